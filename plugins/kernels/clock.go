package kernels

import (
	"fmt"
	"time"
)

// A kernel 2 may take its own time. It is held against the time around the call, which is exact here: between the two
// lies a function's return. A time that is longer is refused at once; one that leaves most of its call out is refused
// when it has happened several times in a row, because one call may be held up by a busy machine.

const (
	// beside is what a call may last longer than what happens in it.
	beside = 200 * time.Microsecond
	// patience is the number of searches in a row after which a short time is no accident.
	patience = 8
)

// clock judges the times of one graph's searches.
type clock struct{ short int }

// believe refuses a time that cannot be true. claimed is 0 where kernel 2 takes no time of its own.
func (c *clock) believe(claimed, call time.Duration) error {
	switch {
	case claimed < 0 || claimed > call:
		return fmt.Errorf("kernel 2 reports %v, and its call lasted %v; its clock cannot be trusted", claimed, call)
	case claimed == 0 || claimed >= call/2 || call-claimed < beside:
		c.short = 0
		return nil
	}
	if c.short++; c.short < patience {
		return nil
	}
	return fmt.Errorf("kernel 2 reports %v, and its call lasted %v, as in each of the last %d searches; its clock leaves most of the work out", claimed, call, patience)
}
