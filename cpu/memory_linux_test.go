//go:build linux && !race

package cpu

import (
	"errors"
	"testing"

	"github.com/tepsbench/teps/plugins"
)

func TestMemoryThatCannotBeHadIsAnError(t *testing.T) {
	if _, err := allocate[uint64](newMemory(), "everything", 1<<55); !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("allocating 2^58 bytes: error is %v, want %v", err, plugins.ErrMemory)
	}
}
