// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// Lend is plugins.Accelerator.Lend. It leaves five eighths of the device to the engine, which needs at least 20 bytes
// for each tuple of 12.
func (d *device) Lend(ctx context.Context, tuples []graph.Edge) (t *plugins.DeviceTuples, err error) {
	err = d.do(func() error {
		if err := d.takeBack(); err != nil || len(tuples) == 0 {
			return err
		}
		bytes := driver.Bytes(tuples)
		if _, total, err := cu.MemInfo(); err != nil || int64(len(bytes)) > total/8*3 {
			return cmp.Or(err, fmt.Errorf("%d bytes of tuples on a device of %d: %w", len(bytes), total, plugins.ErrMemory))
		}
		if d.lent, err = d.memory.OnDevice("tuples for an engine", int64(len(bytes))); err != nil {
			return err
		}
		handle, err := driver.ExportMemory(d.lent)
		if err != nil {
			return errors.Join(fmt.Errorf("%w: share device memory: %w", plugins.ErrUnavailable, err), d.takeBack())
		}
		t = &plugins.DeviceTuples{Handle: handle, Count: int64(len(tuples))}
		return d.stage.Upload(ctx, bytes, func(at uint64, first, n int64) error {
			return cu.MemcpyDtoDAsync(cu.DevicePtr(d.lent+uint64(first)), cu.DevicePtr(at), n, cu.NoStream)
		})
	})
	if err != nil {
		t = nil
	}
	return t, err
}

// takeBack frees the tuples that an engine had.
func (d *device) takeBack() error {
	err := d.memory.Free(d.lent)
	d.lent = 0
	return err
}
