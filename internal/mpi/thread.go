// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"cmp"
	"os"

	"github.com/tepsbench/teps/internal/child"
)

// Thread is MPI in this process: one goroutine on one thread makes all calls.
type Thread struct {
	World *Comm // all processes
	Place int   // of this process among those of its host
	Here  int   // number of processes on this host

	loaded *Library
	calls  chan func()
}

// Begin starts MPI in this process, which a launcher has started as one of a number of processes, and waits for the
// others. A process begins once.
//
// Open MPI keeps its shared memory in files, by default in /dev/shm, where those of a killed process remain. So they
// get a directory, which is removed as soon as all processes have opened them.
func Begin(processes int) (t *Thread, err error) {
	// Where there is no /dev/shm, Open MPI uses the job's directory.
	if dir, err := child.NewDirIn("/dev/shm", "teps-rank-"); err == nil {
		defer dir.Remove()
		for _, transport := range []string{"vader", "sm"} { // of Open MPI 4, and of Open MPI 5
			name := "OMPI_MCA_btl_" + transport + "_backing_directory"
			os.Setenv(name, cmp.Or(os.Getenv(name), dir.Path()))
		}
	}
	t = &Thread{calls: make(chan func())}
	go func() { // Init locks it to its thread
		for call := range t.calls {
			call()
		}
	}()
	t.Do(func() { err = t.begin(processes) })
	return t, err
}

func (t *Thread) begin(processes int) (err error) {
	if t.loaded, err = Open(); err == nil {
		t.World, err = t.loaded.Init(processes)
	}
	if err == nil {
		t.Place, t.Here, err = t.World.OnHost()
	}
	if err == nil {
		err = t.World.Allreduce(nil, nil) // wait for all
	}
	return err
}

// Do makes a call on the thread.
func (t *Thread) Do(call func()) {
	done := make(chan struct{})
	t.calls <- func() {
		defer close(done)
		call()
	}
	<-done
}

// End ends MPI. All processes call it.
func (t *Thread) End() (err error) {
	t.Do(func() { err = t.loaded.Finalize() })
	return err
}
