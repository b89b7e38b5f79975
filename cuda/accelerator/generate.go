// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"context"
	"encoding/binary"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
)

// strideBits is log2 of the threads that generate.
const strideBits = 17

// Generate is plugins.Accelerator.Generate.
func (d *device) Generate(ctx context.Context, recipe graph.Kronecker, dst []graph.Edge, first int64) error {
	if err := recipe.Check(); err != nil {
		return err
	}
	if first < 0 || first > recipe.Tuples()-int64(len(dst)) {
		return fmt.Errorf("%d tuples from number %d: the list has %d", len(dst), first, recipe.Tuples())
	}
	return d.do(func() error {
		if err := d.use(recipe); err != nil {
			return err
		}
		return d.stage.Download(ctx, driver.Bytes(dst), func(at uint64, from, n int64) (uint64, error) {
			return at, d.generate(at, first+from/graph.EdgeBytes, n/graph.EdgeBytes)
		})
	})
}

// use brings the constants of a recipe to the device.
func (d *device) use(recipe graph.Kronecker) (err error) {
	c := recipe.Constants()
	if d.constants == 0 {
		d.constants, err = d.memory.OnDevice("constants", int64(binary.Size(c)))
	}
	if err == nil && d.recipe != recipe {
		err = driver.Write(d.constants, c)
	}
	if err == nil {
		d.recipe = recipe
	}
	return err
}

// generate makes n tuples of the recipe in use on the device, from number first on.
func (d *device) generate(at uint64, first, n int64) error {
	return d.gpu.Launch(cu.NoStream, 1<<strideBits/driver.Threads, driver.Threads, generateKernel(d.constants,
		uint64(d.recipe.Scale), uint64(first), uint64(n), strideBits, at))
}
