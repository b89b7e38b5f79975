// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"context"
	"errors"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
)

// levels uploads the parents and derives the levels. It returns whether they are a tree from root.
func (d *device) levels(ctx context.Context, root graph.Vertex, parent []graph.Vertex) (whole bool, err error) {
	n := uint64(d.vertices)
	if err := driver.Write(d.findings, nothingFound()); err != nil {
		return false, err
	}
	read := func(at uint64, first, bytes int64) error {
		return d.launch(readParentsKernel(at, uint64(bytes/8), uint64(first/8), n, uint64(root), d.parent, d.jump,
			d.findings))
	}
	if err = d.pin(parent); d.pinned.Device != 0 {
		err = errors.Join(err, read(d.pinned.Device, 0, int64(8*n)))
	} else if err == nil {
		err = d.stage.Upload(ctx, driver.Bytes(parent), read)
	}
	if err != nil {
		return false, err
	}
	for bits := 0; bits < 33; bits++ { // a path of 2^31 vertices takes 31 rounds, and a cycle has no end
		if err := d.launch(jumpLevelsKernel(d.jump, n, uint64(root), d.findings)); err != nil {
			return false, err
		}
		f, err := d.found()
		if err != nil || f.BadRoot != none || f.Unusable != none || f.Lost != 0 {
			return false, err
		}
		if f.GoesOn == 0 {
			return true, nil
		}
		f.GoesOn = 0
		if err := driver.Write(d.findings, f); err != nil {
			return false, err
		}
	}
	return false, nil
}

// pin makes parents readable for the device, which spares copies, where the system allows it. They are usually the same
// memory for all searches.
func (d *device) pin(parent []graph.Vertex) error {
	if &parent[0] == d.tried {
		return nil
	}
	err := d.unpin()
	d.tried = &parent[0]
	if err == nil {
		d.pinned, _ = driver.PinBytes(driver.Bytes(parent)) // or not
	}
	return err
}

func (d *device) unpin() (err error) {
	if d.pinned.Device != 0 {
		err = d.pinned.Unpin()
	}
	d.pinned, d.tried = driver.Pinned{}, nil
	return err
}
