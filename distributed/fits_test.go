package distributed

import (
	"errors"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
)

func TestRanksThatDoNotFitAreRefused(t *testing.T) {
	err := fits(t.Context(), Grid{MaxRanks, 1}, 1, 1<<40)
	if !errors.Is(err, plugins.ErrMemory) || !strings.Contains(err.Error(), "use fewer ranks or a smaller graph") {
		t.Errorf("got %v, want %v and what to do", err, plugins.ErrMemory)
	}
	if err := fits(t.Context(), Grid{1, 1}, 1, 1<<10); err != nil {
		t.Errorf("a small graph: %v", err)
	}
}
