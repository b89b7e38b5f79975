// SPDX-License-Identifier: Apache-2.0

// Package accelerator does the host's own work on an NVIDIA GPU: kernels/generate.cu makes the tuples and weights of
// the reference generator, and kernels/validate.cu checks the results of kernels 2 and 3, both with the results of
// package graph.
//
// Without the build tag cuda it only describes itself, as unavailable. cuda/build.sh builds the rest.
package accelerator

import (
	"context"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/plugins"
)

// Accelerator is a plugins.Accelerator. It takes the device with its first use.
type Accelerator struct{ device }

// New returns an accelerator on the last GPU of this machine: engines take the first by default.
func New() *Accelerator { return &Accelerator{} }

// Describe is plugins.Accelerator.Describe.
func (*Accelerator) Describe(context.Context) (plugins.Description, error) {
	devices, err := driver.Devices()
	return plugins.Description{
		Name: "cuda", Version: "1.0", Summary: "Generates tuples and weights and validates searches on an NVIDIA GPU.",
		Unavailable: driver.Missing(), Devices: devices,
	}, err
}
