// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/record"
)

// Job is one run of a sweep: one engine with its options on one graph.
type Job struct {
	Plan      record.Plan // of one engine and one graph
	Repeat    int         // from 1
	Directory string      // directory of the run; empty if the engine is unavailable
	Memory    int64       // bytes that the run needs, by the engine's estimate
	State     State
	Reason    string      // why the State is Bad
	Run       *record.Run // without its roots; nil before there is one
}

// State is how far a job has come.
type State string

const (
	Missing     State = "to do" // never measured, or interrupted
	Done        State = "done"
	Invalid     State = "invalid" // complete, but a search is wrong
	Failed      State = "failed"  // the engine failed
	Unreadable  State = "unreadable"
	Unavailable State = "unavailable" // the engine cannot run here
)

// Bad reports whether something went wrong.
func (s State) Bad() bool { return s != Missing && s != Done }

// Engine is the job's engine.
func (j *Job) Engine() record.EngineSpec { return j.Plan.Engines[0] }

// Graph is the job's graph.
func (j *Job) Graph() record.GraphID { return j.Plan.GraphIDs()[0] }

// notInFileNames matches characters that some systems or shells refuse in the name of a file.
var notInFileNames = regexp.MustCompile(`[^a-zA-Z0-9._=-]`)

// name names the job's directory. The name ends in a checksum of everything that identifies a measurement: the
// plan with the engine's options and the checksum of its program, the engine's version, the repeat, the build of teps
// and the machine. A change of any of these is another job.
func (j *Job) name(version string, software record.Software, machine machine.Machine) {
	plan := j.Plan
	plan.HostDevice = nil            // which changes no result
	data, _ := json.Marshal(struct { // cannot fail
		Plan                      record.Plan
		Repeat                    int
		Program, Machine, Version string
	}{plan, j.Repeat, cmp.Or(software.Program, software.String()), machine.Identity(), version})
	sum := sha256.Sum256(data)
	inName := func(text string) string {
		text = notInFileNames.ReplaceAllString(text, "-")
		return text[:min(len(text), 60)]
	}
	graph := inName(cmp.Or(j.Graph().Source, fmt.Sprintf("s%02d", j.Graph().Scale)))
	if kernel := j.Graph().Kernel; kernel != record.BFS {
		graph += "-" + kernel.String()
	}
	j.Directory = fmt.Sprintf("%s-%s-r%d-%x", graph, inName(j.Engine().Name), j.Repeat, sum[:6])
}

// look sets the State from the job's record in dir.
func (j *Job) look(dir string) {
	path := filepath.Join(dir, j.Directory)
	_, err := os.Stat(filepath.Join(path, record.ResultFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	result, err := record.Load(path)
	if err != nil {
		j.State, j.Reason = Unreadable, fmt.Sprintf("%v; remove %s to measure it again", err, path)
		return
	}
	j.keep(result.Runs[0])
}

// keep sets the State from a run, and the Reason why it has no valid result.
func (j *Job) keep(run record.Run) {
	j.State = Done
	switch {
	case run.State == record.Failed || run.State == record.Complete && run.Energy.Failed():
		j.State = Failed
	case run.State != record.Complete:
		j.State = Missing
	case !run.Sound():
		j.State = Invalid
	}
	j.Reason = run.Failure
	switch first := slices.IndexFunc(run.Roots, record.RootRecord.Broken); {
	case first >= 0:
		j.Reason = fmt.Sprintf("%d of %d searches are wrong: %s", run.BrokenRoots(), len(run.Roots),
			run.Roots[first].Violation)
	case run.Energy.Failed() && run.Failure == "":
		j.Reason = "energy: " + run.Energy.Failure
	case j.State == Invalid:
		j.Reason = "no vertex of the graph has a neighbor, so it has no root to search from"
	}
	run.Roots = nil
	j.Run = &run
}
