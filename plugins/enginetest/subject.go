package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// patience is how long an engine may go on after its context has ended. The contract says "within a second or two".
const patience = 2 * time.Second

// Opener opens an engine that has not been used. The suite closes it. Every case calls it at least once.
type Opener func(ctx context.Context) (plugins.Engine, error)

// Allocator is implemented by engines that share memory with the suite, as they do with the host of a run. Without it
// the suite uses Go slices. Each release function frees the memory.
type Allocator interface {
	Tuples(n int64) (tuples []graph.Edge, release func() error, err error)
	Parents(n int64) (parents []graph.Vertex, release func() error, err error)
}

// Footprint is implemented by engines in processes of their own: the number of bytes that the process shares with no
// other. known is false if the system does not provide it.
type Footprint interface {
	PrivateMemory() (bytes int64, known bool)
}

// Case is one thing that every engine must do.
type Case struct {
	Name  string // group/what; unique
	check func(s *subject)
	runs  condition
	About string // one sentence that says what is required
}

// condition says when a case runs.
type condition int

const (
	always   condition = iota
	anywhere           // also on an engine that is unavailable here
	long               // without -short: it takes long on an engine that launches kernels or sends messages between levels
)

// subject is the engine under test in one case. A check that fails stops at once, like a test that calls T.Fatal: fail
// and skip panic with a failure, which attempt recovers.
type subject struct {
	ctx         context.Context
	engine      plugins.Engine
	open        Opener
	description plugins.Description
	options     map[string]string // of every Construct
	when        string            // what was done before, for messages; empty: nothing special
	releases    []func() error
}

type failure struct{ error }

// skip is the reason for not running a case.
type skip string

func (s skip) Error() string { return string(s) }

func (s *subject) skip(reason string) { panic(failure{skip(reason)}) }

func (s *subject) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if s.when != "" {
		err = fmt.Errorf("%s: %w", s.when, err)
	}
	panic(failure{err})
}

// must fails if err is an error. what says what was done.
func (s *subject) must(err error, what string, args ...any) {
	if err != nil {
		s.fail("%s: %w", fmt.Sprintf(what, args...), err)
	}
}

// attempt returns the failure of a check, or nil.
func attempt(check func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	check()
	return nil
}

// persistently fails if three attempts of a check fail: on a busy machine a correct clock may look wrong once.
func (s *subject) persistently(check func(try int)) {
	var err error
	for try := range 3 {
		if err = attempt(func() { check(try) }); err == nil {
			return
		}
	}
	panic(failure{err})
}

// wantError fails unless err wraps one of the sentinels.
func (s *subject) wantError(what string, err error, sentinels ...error) {
	if slices.ContainsFunc(sentinels, func(sentinel error) bool { return errors.Is(err, sentinel) }) {
		return
	}
	if err == nil {
		err = errors.New("none")
	}
	s.fail("%s: want an error that wraps %q, got: %w", what, sentinels, err)
}

// refusesSearch fails unless a Search returns an error that wraps one of the sentinels.
func (s *subject) refusesSearch(what string, root graph.Vertex, parent []graph.Vertex, sentinels ...error) {
	_, err := s.engine.Search(s.ctx, root, parent)
	s.wantError(what, err, sentinels...)
}

// withAnother opens a second engine of the same kind, checks it and closes it.
func (s *subject) withAnother(check func(other *subject)) error {
	e, err := s.open(s.ctx)
	s.must(err, "opening another engine")
	other := &subject{ctx: s.ctx, engine: e, open: s.open, options: s.options}
	err = attempt(func() { check(other) })
	return errors.Join(err, other.release())
}

// release closes the engine and then frees memory.
func (s *subject) release() error {
	var failed error
	if err := s.engine.Close(); err != nil {
		failed = fmt.Errorf("want no error from Close, got: %w", err)
	}
	for _, release := range s.releases {
		failed = errors.Join(failed, release())
	}
	s.releases = nil
	return failed
}

// tuples returns a copy of edges for the engine.
func (s *subject) tuples(edges []graph.Edge) []graph.Edge {
	host, ok := s.engine.(Allocator)
	if !ok || len(edges) == 0 {
		return slices.Clone(edges)
	}
	shared, release, err := host.Tuples(int64(len(edges)))
	s.must(err, "allocating %d tuples to share with the engine", len(edges))
	s.releases = append(s.releases, release)
	copy(shared, edges)
	return shared
}

// vertices returns an array of n vertices for the engine.
func (s *subject) vertices(n int64) []graph.Vertex {
	host, ok := s.engine.(Allocator)
	if !ok {
		return make([]graph.Vertex, n)
	}
	shared, release, err := host.Parents(n)
	s.must(err, "allocating %d parents to share with the engine", n)
	s.releases = append(s.releases, release)
	return shared
}

// with returns the options of the subject and one more.
func (s *subject) with(name, value string) map[string]string {
	set := map[string]string{}
	maps.Copy(set, s.options)
	set[name] = value
	return set
}

// construct calls Construct with the subject's options.
func (s *subject) construct(ctx context.Context, tuples []graph.Edge) error {
	_, err := s.engine.Construct(ctx, plugins.Input{Tuples: tuples, Options: s.options})
	return err
}

// label describes a set of options, for messages and as the name of a subtest.
func label(options map[string]string) string {
	if len(options) == 0 {
		return "defaults"
	}
	return strings.NewReplacer("map[", "", "]", "", ":", "=", " ", ",").Replace(fmt.Sprint(options))
}
