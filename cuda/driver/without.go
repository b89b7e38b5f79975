// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package driver

import "github.com/tepsbench/teps/plugins"

// Missing explains in one sentence why this program cannot use a GPU.
func Missing() string {
	return "this program was built without CUDA; on a machine with a CUDA toolkit, run: bash cuda/build.sh"
}

// Devices returns nothing.
func Devices() ([]plugins.Device, error) { return nil, nil }
