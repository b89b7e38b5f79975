// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWhatAnEngineSaysCannotControlATerminal(t *testing.T) {
	for _, line := range []string{"engines", "conform %s", "run --engine %s --scale 6"} {
		for _, engine := range []string{"painter", "shouter"} { // one in its description, one in an error
			var out bytes.Buffer
			execute(t.Context(), withPainter(), strings.Fields(strings.ReplaceAll(line, "%s", engine)), &out, &out)
			if !strings.Contains(out.String(), engine) || strings.ContainsAny(out.String(), "\x1b\a\r\u009b") {
				t.Errorf("teps %s, %s: %q", line, engine, out.String())
			}
		}
	}
}

// A command that waits for an engine or for the reader of its output ends with a signal.
func TestSignalsEndCommandsThatWait(t *testing.T) {
	t.Parallel()
	asleep := filepath.Join(t.TempDir(), "teps-engine-asleep")
	writeProgram(t, asleep, "#!/bin/sh\nexec sleep 1000\n")
	for _, args := range [][]string{
		{"engines", asleep}, {"conform", asleep}, {"run", "--engine", asleep, "--scale", "8"},
		{"generate", "--scale", "30"}, {"report", "../../docs/results/runs/s16-22", "--format", "csv"},
	} {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			t.Run(args[0]+" "+s.String(), func(t *testing.T) {
				cmd, temp := teps(t, args...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				unread, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer unread.Close()
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				waits := cmd.Args[len(cmd.Args)-1] == asleep || args[0] == "run"
				if waits {
					waitFor(t, "the engine", func() bool { return len(children(cmd.Process.Pid)) > 0 })
				} else if _, err := unread.Read(make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
				cmd.Process.Signal(s)
				cmd.Wait()
				status := cmd.ProcessState.Sys().(syscall.WaitStatus)
				if stopped := waits && status.ExitStatus() == exitInterrupted; !stopped && status.Signal() != s {
					t.Errorf("%v:\n%s", cmd.ProcessState, &stderr)
				}
				nothingLeft(t, temp)
			})
		}
	}
}

// Under a limit of the address space, the runtimes of Go and C would end with pages of traces.
func TestALimitedAddressSpaceIsRefusedInALine(t *testing.T) {
	for _, kilobytes := range []string{"200000", "800000", "1000000", "2000000"} {
		cmd, temp := teps(t, "run", "--scale", "8")
		cmd.Args = append([]string{"sh", "-c", "ulimit -v " + kilobytes + ` && exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != exitFailed || strings.Count(string(out), "\n") != 1 ||
			!strings.Contains(string(out), "raise the limit (ulimit -v)") {
			t.Errorf("%s KiB: exit code %d:\n%s", kilobytes, cmd.ProcessState.ExitCode(), out)
		}
		nothingLeft(t, temp)
	}
}

func TestPathsOfEnginesMayHaveSeparators(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a:b,c=d:threads=2")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	engine := filepath.Join(dir, "teps-engine-odd:1")
	cmd, _ := teps(t, "run", "--engine", `"`+engine+`:threads=1","two=`+engine+`"`, "--scale", "6", "--roots", "2",
		"--out", filepath.Join(dir, "run"))
	writeProgram(t, engine, "#!/bin/sh\nexec "+cmd.Path+" serve-engine cpu\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\ntwo  ") {
		t.Errorf("%v\n%s", err, out)
	}
}
