package harness

import "time"

// Progress is told how far a run has come. It is called between timed calls only, never inside one, from one goroutine.
type Progress interface {
	// Step begins a step of total units; 0 if their number is not known. One step runs at a time.
	Step(name string, total int64) Step
	// Note says something that the user should not miss.
	Note(text string)
}

// Step is the progress of one step; Done or Fail ends it.
type Step interface {
	Add(units int64)
	// Expect says how long the whole step is likely to take, judging by another of its kind: an estimate, shown as one.
	Expect(d time.Duration)
	// Watch shows how far what has come, as progress tells from any goroutine (a total of 0: it cannot tell), until stop is called. When stop has returned,
	// nothing is running that the next engine's clock could see; no engine may work before.
	Watch(what string, progress func() (done, total int64)) (stop func())
	Done(summary string)
	Fail(err error)
}

// Silent is a Progress that says nothing.
type Silent struct{}

func (Silent) Step(string, int64) Step { return silentStep{} }
func (Silent) Note(string)             {}

type silentStep struct{}

func (silentStep) Add(int64)            {}
func (silentStep) Expect(time.Duration) {}
func (silentStep) Done(string)          {}
func (silentStep) Fail(error)           {}

func (silentStep) Watch(string, func() (int64, int64)) (stop func()) { return func() {} }
