// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
)

// Prepare checks that a plan can succeed on this machine, before anything large is allocated or written: the plan
// itself, the options of every engine, the limits of its graphs, meters and memory. A record.ErrUsage explains what to
// change; any other error explains why the run cannot succeed here. An engine that does not start is an error only if
// no engine starts; otherwise the run records it as failed.
func Prepare(ctx context.Context, host Host, plan record.Plan) error {
	if err := plan.Check(); err != nil {
		return err
	}
	if err := CheckFiles(ctx, plan); err != nil {
		return err
	}
	hosts, available, source, unknown := memoryOf(ctx, host)
	var failures []error
	var limits error
	memory := map[string]plugins.Memory{}
	for _, spec := range plan.Engines {
		d, err := Available(ctx, host, spec)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			failures = append(failures, fmt.Errorf("engine %s: %w", spec.Name, err))
			continue
		}
		settings, err := Resolve(spec, d)
		if err != nil {
			return err
		}
		if plan.Cluster.Spans() && spec.Builtin != record.Nothing {
			if !d.Spreads {
				return record.Usage("engine %s is one process, which is not divided among hosts; name an engine of several, such "+
					"as mpi, or run on one host", spec.Name)
			}
			if _, err := ProcessesOf(d, spec.Options, hosts); err != nil {
				return record.Usage("engine %s: %w", spec.Name, err)
			}
		}
		if plan.Regenerate && !d.MakesTuples {
			return record.Usage("engine %s reads tuples from memory and cannot make them again; name another engine", spec.Name)
		}
		if plan.Has(record.SSSP) && !d.ShortestPaths {
			return record.Usage("engine %s has no kernel 3; leave out sssp, or name other engines (teps engines lists which "+
				"have it)", spec.Name)
		}
		limits = errors.Join(limits, checkLimits(plan, spec.Name, settings.Limits(d)))
		memory[spec.Name] = memoryFor(plan.Has(record.SSSP), d)
	}
	if len(memory) == 0 {
		return errors.Join(failures...)
	}
	if _, err := CheckMeters(ctx, host, plan); err != nil {
		return err
	}
	if unknown == nil { // otherwise everything fits
		if err := fitsInto(plan, memory, hosts, available, source); err != nil {
			return err
		}
	}
	return limits
}

// CheckFiles returns a record.ErrUsage if a file of the plan is missing, and a plugins.ErrMemory if one is so large
// that its graph can hardly fit: a tuple takes 12 bytes, and seldom more than 24 in a file.
func CheckFiles(ctx context.Context, plan record.Plan) error {
	available, source, err := machine.AvailableMemory(ctx)
	if err != nil {
		available = math.MaxInt64
	}
	for _, g := range plan.Graphs {
		if g.Path == "" || g.Path == record.StandardInput {
			continue
		}
		path, _ := files.SplitArchive(g.Path)
		info, err := os.Stat(path)
		switch {
		case graph.IsGenerator(g.Name+":") && err != nil:
			return record.Usage("graph %s: want it with numbers, such as %[1]s:1000; teps run --help lists the generators",
				g.Name)
		case errors.Is(err, fs.ErrNotExist):
			return record.Usage("graph %s does not exist, as a file or a generator; teps run --help lists the generators",
				g.Name)
		case err != nil:
			return record.Usage("graph %s: %w", g.Name, err)
		case info.IsDir():
			return record.Usage("graph %s is a directory; name a file", g.Name)
		case !info.Mode().IsRegular():
			return record.Usage("graph %s is a pipe or a device; give - to read standard input", g.Name)
		case info.Size()/2 > available:
			return fmt.Errorf("%w: %s has %s, and its tuples take about half as much, but this machine has %s available (%s)",
				plugins.ErrMemory, g.Name, units.Bytes(info.Size()), units.Bytes(available), source)
		}
	}
	return nil
}

// CheckMeters checks that the meters named by a plan with an energy loop work. A wrong one is a record.ErrUsage. The
// lack of any meter is not an error. The notes warn the user before the loop: there is no meter, all meters estimate,
// or the loop is short.
func CheckMeters(ctx context.Context, host Host, plan record.Plan) (notes []string, err error) {
	if plan.Energy == 0 {
		return nil, nil
	}
	meters, absent, err := host.Meters(ctx, plan.Meters)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	infos, measured, period := meters.Infos(), false, time.Duration(0)
	for _, m := range infos {
		measured = measured || m.Method == power.Measured
		period = max(period, m.Period)
	}
	if err := meters.Close(); err != nil {
		return nil, fmt.Errorf("power meters: %w", err)
	}
	if len(infos) == 0 {
		notes = append(notes, "no power meter found, so energy is not measured; see teps machine")
		return notes, missingMeter(absent)
	}
	if !measured {
		notes = append(notes, "no meter here measures power, so all figures will be marked as estimated")
	}
	if plan.Energy < max(10*period, record.LevelOneTime) {
		note := fmt.Sprintf("an energy loop of %s is short; GreenGraph500 requires 1 min",
			units.Duration(plan.Energy))
		if period > 0 { // a meter need not state it
			note += ", and the slowest meter is updated every " + units.Duration(period)
		}
		notes = append(notes, note)
	}
	return notes, missingMeter(absent)
}

// missingMeter returns an error if a meter that the plan names is absent.
func missingMeter(absent []power.Absence) error {
	for _, a := range absent {
		if a.Asked {
			return fmt.Errorf("meter %s is not available: %s", a.Source, a.Reason)
		}
	}
	return nil
}

// Describe opens an engine only to get its description. Errors do not name the engine.
func Describe(ctx context.Context, host Host, spec record.EngineSpec) (plugins.Description, error) {
	engine, err := host.Open(ctx, spec)
	if err != nil {
		return plugins.Description{}, err
	}
	d, err := describe(ctx, engine)
	return d, cmp.Or(err, closeEngine(engine))
}

// Available is Describe with an error also for an engine that cannot run here, a plugins.ErrUnavailable.
func Available(ctx context.Context, host Host, spec record.EngineSpec) (plugins.Description, error) {
	d, err := Describe(ctx, host, spec)
	if err == nil && d.Unavailable != "" {
		err = fmt.Errorf("%w: %s", plugins.ErrUnavailable, d.Unavailable)
	}
	return d, err
}

func describe(ctx context.Context, engine plugins.Engine) (plugins.Description, error) {
	d, err := engine.Describe(ctx)
	if err != nil {
		err = fmt.Errorf("describe: %w", err)
	}
	return d, err
}

func closeEngine(engine plugins.Engine) error {
	if err := engine.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

// Resolve returns the options in effect for an engine, and a record.ErrUsage if one of them is wrong.
func Resolve(spec record.EngineSpec, d plugins.Description) (plugins.Settings, error) {
	settings, err := plugins.Resolve(d.Options, spec.Options)
	if err != nil {
		return settings, record.Usage("engine %s: %w (teps engines lists all options)", spec.Name, err)
	}
	return settings, nil
}

// checkLimits returns a plugins.ErrTuples if a graph is too large for an engine. The size of a file is known once it is
// read.
func checkLimits(plan record.Plan, engine string, limits plugins.Limits) error {
	within := func(s graph.Source) bool { return within(limits, s.Vertices(), s.Tuples()) }
	for _, g := range largest(plan) {
		switch {
		case within(g.source):
		case g.id.Source != "":
			return tooLarge(engine, limits, g.id)
		default:
			smaller := smallerScale(plan, g.id.Scale, within)
			return fmt.Errorf("%s is too large for engine %s; the largest that it takes at edge factor %d is %d: %w",
				g.id, engine, plan.EdgeFactor, smaller, plugins.ErrTuples)
		}
	}
	return nil
}

func within(limits plugins.Limits, vertices, tuples int64) bool {
	return (limits.Vertices == 0 || vertices <= limits.Vertices) && (limits.Tuples == 0 || tuples <= limits.Tuples)
}

func tooLarge(engine string, limits plugins.Limits, id record.GraphID) error {
	var bounds []string
	if limits.Vertices > 0 {
		bounds = append(bounds, fmt.Sprintf("%d vertices", limits.Vertices))
	}
	if limits.Tuples > 0 {
		bounds = append(bounds, fmt.Sprintf("%d tuples", limits.Tuples))
	}
	return fmt.Errorf("%s is too large for engine %s, which takes at most %s: %w", id, engine,
		strings.Join(bounds, " and "), plugins.ErrTuples)
}

// generated is a graph of a plan that is generated.
type generated struct {
	id     record.GraphID
	source graph.Source
}

// largest returns the generated graphs of a plan; of its scales, only the largest.
func largest(plan record.Plan) (all []generated) {
	for _, id := range plan.GraphIDs() {
		source, err := plan.Generator(id)
		if err == nil && source != nil && (id.Source != "" || id.Scale == slices.Max(plan.Scales)) {
			all = append(all, generated{id, source})
		}
	}
	return all
}

// smallerScale returns the largest scale below scale that fits, or 0.
func smallerScale(plan record.Plan, scale int, fits func(graph.Source) bool) int {
	for scale--; scale >= graph.MinScale && !fits(plan.Recipe(scale)); scale-- {
	}
	return scale
}

// Needs is the memory of one engine on one graph, in bytes, at the peak of a run. It is known before anything is
// allocated, so a graph that does not fit is refused, with the largest scale that does, instead of making the machine
// swap or kill processes.
type Needs struct {
	Tuples    int64 // the input list
	Parents   int64 // one parent array
	Validator int64
	Engine    int64 // by the engine's own estimate
}

// Total is the sum, or MaxInt64 if it overflows.
func (n Needs) Total() int64 {
	return saturate(float64(n.Tuples) + float64(n.Parents) + float64(n.Validator) + float64(n.Engine))
}

// EstimateMemory returns the memory of a run on the graph of a source, with an engine that needs m. A number that
// overflows is MaxInt64. The source must pass Check.
func EstimateMemory(s graph.Source, m plugins.Memory) Needs {
	return Needs{
		Tuples:    s.Tuples() * graph.EdgeBytes, // does not overflow, by Check
		Parents:   saturate(float64(s.Vertices()) * 8),
		Validator: validate.Bytes(s.Vertices()),
		Engine:    saturate(m.Bytes(s.Vertices(), s.Tuples())),
	}
}

// memoryFor is the memory of an engine, with that of kernel 3 if paths is set.
func memoryFor(paths bool, d plugins.Description) plugins.Memory {
	m := d.Memory
	if paths {
		m.Fixed, m.PerVertex = m.Fixed+d.PathMemory.Fixed, m.PerVertex+d.PathMemory.PerVertex
		m.PerTuple, m.PerEnd = m.PerTuple+d.PathMemory.PerTuple, m.PerEnd+d.PathMemory.PerEnd
	}
	return m
}

// planNeeds is EstimateMemory for a plan, which may have weights and distances, regenerate the tuples, or divide the
// graph among hosts.
func planNeeds(plan record.Plan, s graph.Source, m plugins.Memory, hosts int) Needs {
	n := EstimateMemory(s, m)
	if plan.Has(record.SSSP) {
		n.Tuples, n.Parents = n.Tuples/graph.EdgeBytes*(graph.EdgeBytes+4), saturate(1.5*float64(n.Parents))
	}
	if hosts > 1 {
		h := int64(hosts)
		ghosts := min(3*s.Tuples()/2/h, s.Vertices()) // vertices of other hosts in the tuples of one
		n.Validator = validate.PartBytes(s.Vertices()/h, s.Tuples()/h, ghosts)
		if plan.Has(record.SSSP) {
			n.Validator += 4 * (s.Vertices()/h + ghosts)
		}
		n.Tuples, n.Parents, n.Engine = n.Tuples/h, 2*n.Parents/h, n.Engine/h // the parents of the engine and the host's
	}
	if plan.Regenerate {
		n.Tuples = min(n.Tuples, partTuples*graph.EdgeBytes)
	}
	return n
}

// saturate converts a size to the range 0 to MaxInt64.
func saturate(x float64) int64 {
	switch {
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x > 0:
		return int64(math.Ceil(x))
	}
	return 0 // negative or NaN: an estimate that the conformance suite refuses
}

// memoryOf returns the number of hosts that share a graph, and the least memory that is available on any of them.
func memoryOf(ctx context.Context, host Host) (hosts int, available int64, source string, err error) {
	if clustered, ok := host.(Clustered); ok {
		if hosts, available, source, err = clustered.Memory(ctx); source != "" || err != nil {
			return hosts, available, source, err
		}
	}
	available, source, err = machine.AvailableMemory(ctx)
	return 1, available, source, err
}

// fitsInto reports the engine and graph with the largest needs if they exceed the available bytes, as a
// plugins.ErrMemory. Engines have their memory by name.
func fitsInto(plan record.Plan, engines map[string]plugins.Memory, hosts int, available int64, source string) error {
	var worst Needs
	var of record.GraphID
	engine := ""
	for _, g := range largest(plan) {
		for _, name := range slices.Sorted(maps.Keys(engines)) {
			n := planNeeds(plan, g.source, engines[name], hosts)
			if n.Total() > worst.Total() {
				of, engine, worst = g.id, name, n
			}
		}
	}
	if worst.Total() <= available {
		return nil
	}
	where := "this machine"
	if hosts > 1 {
		where = fmt.Sprintf("one of %d hosts", hosts)
	}
	advice := "free some memory, or use a smaller graph or another engine"
	if of.Source == "" {
		smaller := smallerScale(plan, of.Scale, func(s graph.Source) bool {
			return planNeeds(plan, s, engines[engine], hosts).Total() <= available
		})
		advice = fmt.Sprintf("at edge factor %d, the largest scale that fits is %d", plan.EdgeFactor, smaller)
		if smaller == 0 {
			advice = "no scale fits: free some memory, or use a smaller edge factor or another engine"
		}
	}
	return fmt.Errorf("%w: %s needs %s (tuples %s, parents %s, validator %s, engine %s %s), "+
		"but %s has %s available (%s); %s", plugins.ErrMemory,
		of, units.Bytes(worst.Total()), units.Bytes(worst.Tuples), units.Bytes(worst.Parents),
		units.Bytes(worst.Validator), engine, units.Bytes(worst.Engine), where, units.Bytes(available), source, advice)
}
