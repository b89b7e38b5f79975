package harness

import "time"

// Silent is a Progress that shows nothing.
type Silent struct{}

func (Silent) Step(string, int64, time.Duration) Step { return silentStep{} }
func (Silent) Note(string)                            {}

type silentStep struct{}

func (silentStep) Add(int64)         {}
func (silentStep) End(string, error) {}

func (silentStep) Watch(string, func() (int64, int64)) (stop func()) { return func() {} }
