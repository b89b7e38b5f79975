// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package memory

import (
	"errors"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
)

func TestFailedAllocationIsErrMemory(t *testing.T) {
	arena := New()
	if a := Allocate[uint64](arena, "everything", 1<<55); a != nil {
		t.Error("allocating 2^58 bytes returned an array")
	}
	if b := Allocate[uint64](arena, "little", 1); b != nil {
		t.Error("an allocation after one that failed returned an array")
	}
	err := arena.Err()
	if !errors.Is(err, plugins.ErrMemory) || !strings.Contains(err.Error(), "everything") {
		t.Errorf("allocating 2^58 bytes: error is %v, want %v for everything", err, plugins.ErrMemory)
	}
}
