// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// Schedule is a sweep with the state of its jobs.
type Schedule struct {
	Sweep    Sweep
	Dir      string // directory of the runs
	Jobs     []*Job // in the order in which they are measured
	software record.Software
	machine  machine.Machine
	notes    []string // about power meters
}

// Prepare asks every engine to describe itself, checks the options of every variant, looks up which jobs are complete
// in dir, and checks that the others fit into memory. It writes nothing. A record.ErrUsage explains what to change. The
// jobs of an engine that cannot run here are Unavailable; if that is all of them, it is an error.
func Prepare(ctx context.Context, host harness.Host, s Sweep, dir string) (*Schedule, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := harness.CheckFiles(ctx, s.Plan); err != nil {
		return nil, err
	}
	notes, err := harness.CheckMeters(ctx, host, s.Plan)
	if err != nil {
		return nil, err
	}
	out := &Schedule{
		Sweep: s, Dir: dir, Jobs: s.jobs(), software: record.ThisSoftware(), machine: machine.This(ctx), notes: notes,
	}
	type program struct {
		plugins.Description
		err error
	}
	programs := map[[3]string]program{}
	var failures []error
	for _, j := range out.Jobs {
		spec := j.Engine()
		key := [3]string{spec.Builtin, spec.Path, spec.Checksum}
		p, known := programs[key]
		if !known {
			if p.Description, p.err = harness.Available(ctx, host, spec); ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if programs[key] = p; p.err != nil {
				failures = append(failures, fmt.Errorf("engine %s: %w", spec.Name, p.err))
			}
		}
		if p.err != nil {
			j.State, j.Reason = Unavailable, p.err.Error()
		}
		if p.Name != "" { // it has described itself
			if err := out.enter(j, p.Description); err != nil {
				return nil, err
			}
		}
	}
	if len(failures) == len(programs) {
		return nil, errors.Join(failures...)
	}
	return out, out.checkMemory(ctx)
}

// enter completes a job of an engine.
func (s *Schedule) enter(j *Job, d plugins.Description) error {
	if j.Plan.Has(record.SSSP) && !d.ShortestPaths {
		return record.Usage("engine %s has no kernel 3; leave out sssp, or name other engines", j.Engine().Name)
	}
	if _, err := harness.Resolve(j.Engine(), d); err != nil || j.State == Unavailable {
		return err
	}
	source, err := j.Plan.Generator(j.Graph())
	if err != nil {
		return err
	}
	if source != nil { // the size of a file is known once it is read
		j.Memory = harness.EstimateMemory(source, d.Memory).Total()
	}
	j.name(d.Version, s.software, s.machine)
	j.look(s.Dir)
	return nil
}

// ToDo returns the jobs that remain.
func (s *Schedule) ToDo() []*Job {
	return slices.DeleteFunc(slices.Clone(s.Jobs), func(j *Job) bool { return j.State != Missing })
}

// Bad returns the jobs that went wrong.
func (s *Schedule) Bad() []*Job {
	return slices.DeleteFunc(slices.Clone(s.Jobs), func(j *Job) bool { return !j.State.Bad() })
}

// checkMemory returns an error for the first job that needs more memory than is available.
func (s *Schedule) checkMemory(ctx context.Context) error {
	available, source, err := machine.AvailableMemory(ctx)
	todo := s.ToDo()
	i := slices.IndexFunc(todo, func(j *Job) bool { return j.Memory > available })
	if err != nil || i < 0 {
		return nil // an unknown memory may suffice
	}
	return fmt.Errorf("%w: %s %s needs %s and %s are available (%s); take smaller graphs", plugins.ErrMemory,
		todo[i].Engine().Name, todo[i].Graph().At(), units.Bytes(todo[i].Memory), units.Bytes(available), source)
}

// Run measures the jobs to do, in order, and calls begin before the n-th of total. A job that fails does
// not end the sweep. The error is about the sweep as a whole: the directory cannot be written, or ctx has ended.
func (s *Schedule) Run(ctx context.Context, host harness.Host, command []string, progress harness.Progress,
	begin func(j *Job, n, total int)) (err error) {
	todo := s.ToDo()
	if len(todo) == 0 {
		return nil
	}
	unlock, err := lock(s.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	now := s.machine
	now.Load = machine.MeasureLoad(ctx)
	for _, note := range append(now.Warnings(), s.notes...) {
		progress.Note(note)
	}
	var in *harness.Input // of the graph at
	var at record.GraphID
	release := func() (err error) {
		if in != nil {
			err = in.Close()
		}
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	for i, j := range todo {
		begin(j, i+1, len(todo))
		if in == nil || j.Graph() != at {
			if err := release(); err != nil {
				return err
			}
			at = j.Graph()
			if in, err = harness.NewInput(ctx, host, j.Plan, at, progress); err != nil {
				return err
			}
		}
		if err := s.measure(ctx, host, command, j, in, progress); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one job. It removes the rest of an interrupted measurement, because a run that is continued builds
// its graph twice and is not compliant.
func (s *Schedule) measure(ctx context.Context, host harness.Host, command []string, j *Job, in *harness.Input,
	progress harness.Progress) (err error) {
	path := filepath.Join(s.Dir, j.Directory)
	// The result goes first: without it the directory counts as interrupted, even if the removal is not completed.
	err = os.Remove(filepath.Join(path, record.ResultFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(path)
	}
	if err != nil {
		return fmt.Errorf("sweep: remove an earlier measurement: %w", err)
	}
	here := s.machine
	here.Load = machine.MeasureLoad(ctx)
	store, err := record.Create(path, record.NewManifest(command, j.Plan, s.software, here))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	result, err := harness.ExecuteOn(ctx, host, store, in, progress)
	if err == nil {
		j.keep(result.Runs[0])
	}
	return err
}

// lock makes the directory dir and keeps other sweeps out of it. The system releases the lock when the process ends.
func lock(dir string) (unlock func() error, err error) {
	var f *os.File
	if err = os.MkdirAll(dir, 0o777); err == nil {
		f, err = os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("sweep: lock the directory of the runs: %w; choose another store", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, record.Usage("another sweep is writing to %s (%w); wait until it has ended, or choose another store",
			dir, err)
	}
	return f.Close, nil
}
