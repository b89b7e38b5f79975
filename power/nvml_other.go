//go:build !linux || (!amd64 && !arm64)

package power

import (
	"errors"
	"runtime"
)

func openNVML() (nvmlLibrary, error) {
	return nil, errors.New("NVIDIA GPUs are metered on Linux with amd64 or arm64 processors, not on " + runtime.GOOS + " with " + runtime.GOARCH)
}
