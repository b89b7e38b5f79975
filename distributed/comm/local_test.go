// SPDX-License-Identifier: Apache-2.0

package comm

import (
	"fmt"
	"testing"

	"github.com/tepsbench/teps/distributed/testdata/checks"
)

func TestLocalRanksExchangeMessages(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 7, 16} {
		if err := checks.OnAll(NewLocal(size, 1), checks.Group[Traffic, Group]); err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}

func TestSplitGroupsExchangeMessages(t *testing.T) {
	for _, g := range []struct{ rows, columns int }{{1, 1}, {2, 3}, {3, 2}, {1, 5}, {4, 4}} {
		if err := checks.OnAll(NewLocal(g.rows*g.columns, 1), func(c Group) error {
			i, j := c.Rank()%g.rows, c.Rank()/g.rows
			column, row := c.Split(j, i), c.Split(i, j)
			if column.Size() != g.rows || column.Rank() != i || row.Size() != g.columns || row.Rank() != j {
				return fmt.Errorf("rank %d is %d of %d in its column and %d of %d in its row, want %d of %d and %d of %d",
					c.Rank(), column.Rank(), column.Size(), row.Rank(), row.Size(), i, g.rows, j, g.columns)
			}
			if err := checks.Group[Traffic](column); err != nil {
				return err
			}
			return checks.Group[Traffic](row)
		}); err != nil {
			t.Errorf("grid %+v: %v", g, err)
		}
	}
}
