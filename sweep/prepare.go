package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
)

// Schedule is a sweep whose cells have been looked at: what is done, what is to do, and what it will take.
type Schedule struct {
	Sweep    Sweep
	Store    *Store
	Entries  []*Entry // in the order in which they are measured
	Model    *Model
	Software harness.Software
	Machine  harness.Machine
	Command  []string

	// Available memory in bytes, and what says so; 0 and empty where the machine does not tell.
	Available       int64
	AvailableSource string
}

// Entry is a cell and what is known of it.
type Entry struct {
	Cell
	State State
	Why   string        // of a State that is Bad
	Run   *harness.Run  // without its roots; nil before there is one
	Needs harness.Needs // by the engine's own estimate, for its default options
	retry bool          // measure it again, although it failed
}

// keep notes what has become of the entry.
func (e *Entry) keep(state State, r harness.Result, err error) {
	e.State, e.Why, e.Run = state, "", nil
	if len(r.Runs) == 1 {
		run := r.Runs[0]
		e.Why, run.Roots = reason(run), nil
		e.Run = &run
	}
	if err != nil {
		e.Why = err.Error()
	}
}

// reason says in a sentence why a run is no result.
func reason(run harness.Run) string {
	broken := 0
	first := ""
	for _, root := range run.Roots {
		if root.Broken() {
			if broken++; first == "" {
				first = root.Violation
			}
		}
	}
	if broken > 0 {
		return fmt.Sprintf("%d of %s wrong: %s", broken, counted(len(run.Roots), "search", "searches"), first)
	}
	if run.Failure == "" && run.Energy.Failed() {
		return "energy: " + run.Energy.Failure
	}
	if run.Failure == "" && len(run.Roots) == 0 && run.State == harness.Complete {
		return "no search: no vertex of the graph has a neighbour"
	}
	return run.Failure
}

// Prepare looks before the sweep leaps: it asks every engine what it is, checks the options of every variant, looks up
// which cells the store has, and compares the memory of the others with what the machine has. Nothing is written. An
// ErrUsage says what to change. An engine that cannot run here makes its cells Absent, unless no engine can.
func Prepare(ctx context.Context, host harness.Host, s Sweep, store *Store, command []string, software harness.Software, machine harness.Machine) (*Schedule, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := harness.CheckMeters(ctx, host, s.Plan); err != nil {
		return nil, err
	}
	out := &Schedule{Sweep: s, Store: store, Model: NewModel(), Software: software, Machine: machine, Command: command}
	known := map[string]inspected{}
	var absent []error
	for _, cell := range s.Cells() {
		spec := cell.Engine()
		program := spec.Builtin + "\x00" + spec.Path + "\x00" + spec.Checksum
		about, asked := known[program]
		if !asked {
			about = inspect(ctx, host, spec)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if known[program] = about; about.err != nil {
				absent = append(absent, fmt.Errorf("engine %s: %w", spec.Name, about.err))
			}
		}
		e, err := out.enter(cell, about)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, e)
	}
	if len(absent) == len(known) {
		return nil, errors.Join(absent...)
	}
	if bytes, source, err := harness.AvailableMemory(ctx); err == nil {
		out.Available, out.AvailableSource = bytes, source
	}
	return out, out.fits()
}

// inspected is what an engine says of itself, and the checksum of an outside engine's program.
type inspected struct {
	description plugins.Description
	checksum    string
	err         error
}

func inspect(ctx context.Context, host harness.Host, spec harness.EngineSpec) (i inspected) {
	engine, err := host.Open(ctx, spec)
	if err != nil {
		return inspected{err: err}
	}
	i.description, err = engine.Describe(ctx)
	if program, ok := engine.(interface{ Checksum() string }); ok && spec.Path != "" {
		i.checksum = program.Checksum()
	}
	if i.err = errors.Join(err, engine.Close()); i.err == nil && i.description.Unavailable != "" {
		i.err = fmt.Errorf("%w: %s", plugins.ErrUnavailable, i.description.Unavailable)
	}
	return i
}

// enter makes the entry of a cell. From here on an outside engine is refused when its program changes: a sweep has one.
func (s *Schedule) enter(cell Cell, about inspected) (*Entry, error) {
	spec := cell.Engine()
	if about.err != nil {
		return &Entry{Cell: cell, State: Absent, Why: about.err.Error()}, nil
	}
	if _, err := plugins.Settle(about.description.Options, spec.Options); err != nil {
		return nil, harness.Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	if spec.Checksum == "" {
		spec.Checksum = about.checksum
	}
	cell.Plan.Engines, cell.Version = []harness.EngineSpec{spec}, about.description.Version
	if err := cell.name(s.Software, s.Machine); err != nil {
		return nil, err
	}
	e := &Entry{Cell: cell, Needs: harness.EstimateMemory(cell.Plan.Recipe(cell.Scale()), about.description.Memory)}
	state, result, err := s.Store.Look(cell)
	if state == "" {
		return nil, err
	}
	if e.keep(state, result, err); state == Done {
		s.Model.Learn(result)
	}
	return e, nil
}

// ToDo are the entries that are still to be measured.
func (s *Schedule) ToDo() []*Entry {
	return slices.DeleteFunc(slices.Clone(s.Entries), func(e *Entry) bool { return !e.State.Open() })
}

// Retry makes cells that failed, or are invalid, cells to do.
func (s *Schedule) Retry() error {
	for _, e := range s.Entries {
		if e.State == Failed || e.State == Invalid {
			e.State, e.Why, e.retry = Stopped, "", true
		}
	}
	return s.fits()
}

// fits refuses the cells to do that need more memory than there is, and says how to leave them out.
func (s *Schedule) fits() error {
	if s.AvailableSource == "" {
		return nil
	}
	var lines []string
	smallest := 0
	for _, e := range s.ToDo() {
		if e.Needs.Total() <= s.Available {
			continue
		}
		if smallest == 0 || e.Scale() < smallest {
			smallest = e.Scale()
		}
		line := fmt.Sprintf("  %s at scale %d needs %s", e.Engine().Name, e.Scale(), gibibytes(e.Needs.Total()))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	const shown = 12
	if more := len(lines) - shown; more > 0 {
		lines = append(lines[:shown], fmt.Sprintf("  and %d more", more))
	}
	return fmt.Errorf("%w: this machine has %s available (%s), and by the engines' estimates\n%s\nleave them out (exclude: [{scales: %d, engine: NAME}]), or take smaller scales",
		plugins.ErrMemory, gibibytes(s.Available), s.AvailableSource, strings.Join(lines, "\n"), smallest)
}

// gibibytes shows a size.
func gibibytes(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }
