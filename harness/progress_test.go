package harness

import "time"

// Silent is a Progress that shows nothing.
type Silent struct{}

func (Silent) Step(string, int64) Step { return silentStep{} }
func (Silent) Left(time.Duration)      {}
func (Silent) Note(string)             {}

type silentStep struct{}

func (silentStep) Add(int64)         {}
func (silentStep) End(string, error) {}
