// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"pgregory.net/rapid"
)

func TestReductionIsTheRemainder(t *testing.T) {
	for _, c := range []uint64{0, 1, mrgModulus - 1, mrgModulus, mrgModulus + 1, 2*mrgModulus - 1, 2 * mrgModulus, 1 << 31,
		mrgModulus * (1<<30 - 1), mrgModulus*(1<<30-1) - 1, 1<<61 - 1} {
		if got := mrgReduce(c); got != c%mrgModulus {
			t.Errorf("mrgReduce(%d) = %d, want %d", c, got, c%mrgModulus)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		quotient := rapid.Uint64Range(0, 1<<30-1).Draw(t, "quotient")
		x := quotient*mrgModulus + rapid.Uint64Range(0, mrgModulus-1).Draw(t, "remainder")
		if got := mrgReduce(x); got != x%mrgModulus {
			t.Fatalf("mrgReduce(%d) = %d, want %d", x, got, x%mrgModulus)
		}
		y := rapid.Uint64().Draw(t, "y")
		if f := mrgFold(y); f%mrgModulus != y%mrgModulus || f >= 1<<31+1<<33 {
			t.Fatalf("mrgFold(%d) = %d", y, f)
		}
	})
}
