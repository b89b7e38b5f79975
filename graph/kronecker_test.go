// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func TestBatchJumpFits64Bits(t *testing.T) {
	var sum uint64
	for _, coefficient := range newGenerator(Kronecker{1, 1, 0, 0}).Jumps[batchJump] {
		sum += coefficient
	}
	if sum > 1<<33 {
		t.Errorf("the coefficients add up to %d, more than 2^33", sum)
	}
}

func TestCheckBoundsTheRecipe(t *testing.T) {
	for _, k := range []Kronecker{{1, 1, 0, 0}, {42, 16, 2, 3}, {42, 174762, 2, 3}, {1, 1 << 30, 2, 3}} {
		if err := k.Check(); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, c := range []struct {
		k    Kronecker
		want string
	}{
		{Kronecker{0, 16, 2, 3}, "scale 0 is out of range: want 1 to 42"},
		{Kronecker{-1, 16, 2, 3}, "scale -1 is out of range: want 1 to 42"},
		{Kronecker{43, 16, 2, 3}, "scale 43 is out of range: want 1 to 42"},
		{Kronecker{20, 0, 2, 3}, "edgefactor 0 is out of range: want 1 to"},
		{Kronecker{20, -16, 2, 3}, "edgefactor -16 is out of range"},
		{Kronecker{42, 174763, 2, 3}, "edgefactor 174763 is out of range: want 1 to 174762 at scale 42"},
	} {
		must.Fail(t, c.k.Check(), c.want)
		if err := c.k.Generate(context.Background(), nil, 0, 1); err == nil {
			t.Errorf("%+v: Generate accepts it", c.k)
		}
	}
}
