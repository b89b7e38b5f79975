// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tepsbench/teps/record"
)

var long = flag.Bool("long", false, "long tests: a sweep with 20 kills")

// searched is the part of a record that every measurement of a job repeats: everything but times.
type searched struct {
	state    record.State
	valid    bool
	sessions int
	roots    string
	files    string
}

// recordsIn reads every run of a store. Anything but runs and the lock of the store is an error.
func recordsIn(t *testing.T, store string) map[string]searched {
	t.Helper()
	list, err := os.ReadDir(store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]searched{}
	for _, f := range list {
		if f.Name() == ".lock" {
			continue
		}
		r, err := record.Load(filepath.Join(store, f.Name()))
		if err != nil {
			t.Errorf("left in the store: %v", err)
			continue
		}
		run := r.Runs[0]
		got := searched{state: run.State, valid: run.Valid, sessions: run.Sessions}
		for _, root := range run.Roots {
			got.roots += fmt.Sprintf("%d: root %d, m %d, nedge %d, reached %d, depth %d; ",
				root.Index, root.Root, *root.M, *root.NEdge, *root.Reached, *root.Depth)
		}
		files, _ := os.ReadDir(filepath.Join(store, f.Name()))
		for _, file := range files {
			got.files += file.Name() + " "
		}
		all[f.Name()] = got
	}
	return all
}

// entriesIn counts the entries of a folder, 0 if it does not exist.
func entriesIn(dir string) int {
	list, _ := os.ReadDir(dir)
	return len(list)
}

func writeSweep(t *testing.T, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sweep.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A sweep that is killed several times, at random moments, makes the same records as an uninterrupted one.
func TestASweepKilledAtRandomMakesTheSameRecords(t *testing.T) {
	kills := 4
	if *long {
		kills = 20
	}
	const text = "store: %s\nengines: [{name: cpu, set: {threads: [1, 2]}}, distributed]\n" +
		"scales: 6-7\nrepeats: %d\nroots: 6\n"
	repeats := 2 * kills
	undisturbed := filepath.Join(t.TempDir(), "undisturbed")
	first, temp := teps(t, "sweep", "--quiet", writeSweep(t, text, undisturbed, repeats))
	began := time.Now()
	succeed(t, first)
	took := time.Since(began)
	nothingLeft(t, temp)

	store := filepath.Join(t.TempDir(), "killed")
	file := writeSweep(t, text, store, repeats)
	random := rand.New(rand.NewPCG(uint64(began.UnixNano()), 0))
	hit := 0
	// One temp folder for all: what a host leaves that is killed while it starts an engine is for the next one to remove.
	temp = shortTemp(t)
	for range kills {
		cmd, _ := teps(t, "sweep", "--quiet", file)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		cells := entriesIn(store)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// There are 12 runs for each kill. It waits for up to 7, and then for the time that 4 more take, or until they are
		// there, so that the sweep is still running on a machine of any speed.
		cells = min(cells+random.IntN(8), 6*repeats)
		waitFor(t, "some cells of the sweep", func() bool { return entriesIn(store) >= cells })
		pause := time.Duration(random.Int64N(int64(took) * 4 / int64(6*repeats)))
		for end := time.Now().Add(pause); time.Now().Before(end) && entriesIn(store) < cells+4; time.Sleep(time.Millisecond) {
		}
		engines := children(cmd.Process.Pid)
		cmd.Process.Kill()
		if err := cmd.Wait(); err != nil {
			hit++
		}
		for _, pid := range engines {
			waitFor(t, "the engine to end with its host", func() bool { return !alive(pid) })
		}
	}
	if hit < kills/2 {
		t.Errorf("only %d of %d kills hit a sweep that was still running", hit, kills)
	}
	last, _ := teps(t, "sweep", "--quiet", file)
	last.Env = append(last.Env, "TMPDIR="+temp)
	succeed(t, last)
	nothingLeft(t, temp)
	compareRecords(t, recordsIn(t, store), recordsIn(t, undisturbed), 6*repeats)
}

func compareRecords(t *testing.T, got, want map[string]searched, n int) {
	t.Helper()
	if len(want) != n || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Fatalf("%d records and %d undisturbed ones, want %d of the same names", len(got), len(want), n)
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %+v, undisturbed %+v", name, got[name], want[name])
		}
		if r := got[name]; r.state != record.Complete || !r.valid || r.sessions != 1 ||
			r.files != "result.json roots.jsonl run.json " {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
