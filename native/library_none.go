// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package native

import (
	"fmt"

	"github.com/tepsbench/teps/plugins"
)

// New returns an engine whose calls fail: a program that was built without cgo cannot load libraries.
func New(path string) plugins.Engine {
	return plugins.New(func() (plugins.Description, error) {
		return plugins.Description{}, fmt.Errorf("load %s: this program was built without cgo; install a C compiler "+
			"(Debian: gcc libc6-dev) and build it again with CGO_ENABLED=1", path)
	}, nil)
}

// Serve calls serve.
func Serve(serve func()) { serve() }
