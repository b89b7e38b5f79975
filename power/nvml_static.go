//go:build linux && (amd64 || arm64) && !cgo && !nvml

package power

import "errors"

func openNVML() (nvmlLibrary, error) {
	return nil, errors.New("this teps was built without cgo, and cannot load NVIDIA's library: build it where a C compiler is, or with -tags nvml where the C library is glibc")
}
