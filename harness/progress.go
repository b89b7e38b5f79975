package harness

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
	Done(summary string)
	Fail(err error)
}

// Silent is a Progress that says nothing.
type Silent struct{}

func (Silent) Step(string, int64) Step { return silentStep{} }
func (Silent) Note(string)             {}

type silentStep struct{}

func (silentStep) Add(int64)   {}
func (silentStep) Done(string) {}
func (silentStep) Fail(error)  {}
