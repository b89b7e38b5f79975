// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const processes = 3

// TestMain also runs this program as one of several processes, which make every call and check what they receive.
func TestMain(m *testing.M) {
	if os.Getenv("TEPS_TEST_PROCESS") == "" {
		os.Exit(m.Run())
	}
	if err := runProcess(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func runProcess() error {
	l, err := Open()
	if err != nil {
		return err
	}
	world, err := l.Init(processes)
	if err != nil {
		return err
	}
	if place, here, err := world.OnHost(); err != nil || place != world.Rank() || here != world.Size() {
		return fmt.Errorf("got place %d of %d, %v, want those of the world", place, here, err)
	}
	reversed, err := world.Split(0, -world.Rank())
	if err != nil || reversed.Rank() != processes-1-world.Rank() || reversed.Size() != processes {
		return fmt.Errorf("split: got %+v, %v, want the reverse order", reversed, err)
	}
	alone, err := world.Split(world.Rank(), 0)
	if err != nil || alone.Size() != 1 {
		return fmt.Errorf("split: got %+v, %v, want groups of one", alone, err)
	}
	pieceBytes, aheadBytes = 1000, 300 // as if MPI could count no further
	for _, c := range []*Comm{world, reversed, alone} {
		if err := errors.Join(checkMessages(c), checkReductions(c), checkShifts(c), checkWaiting(c)); err != nil {
			return err
		}
	}
	if err := world.Sendrecv(nil, processes, nil, -1); err == nil || !strings.Contains(err.Error(), "MPI_Isend: ") ||
		!strings.Contains(strings.ToLower(err.Error()), "invalid rank") {
		return fmt.Errorf("got %v, want an error with the text of MPI", err)
	}
	return l.Finalize()
}

// checkMessages exchanges messages of all lengths around that of a piece, each pair another one, twice in the same
// memory.
func checkMessages(c *Comm) error {
	message := func(from, to, round int) []byte {
		lengths := []int{0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 10*pieceBytes + 7}
		return bytes.Repeat([]byte{byte(1 + 10*from + to + 100*(round&1))}, lengths[(from+2*to+round)%len(lengths)])
	}
	receive := make([][]byte, c.Size())
	for round := range 8 {
		send := make([][]byte, c.Size())
		for to := range send {
			send[to] = message(c.Rank(), to, round)
		}
		sums := []int64{1, int64(round)}
		if err := c.Alltoallv(send, receive, sums[:round%3], nil); err != nil {
			return err
		}
		if n := int64(c.Size()); round%3 > 0 && sums[0] != n || round%3 > 1 && sums[1] != n*int64(round) {
			return fmt.Errorf("round %d: got sums %v", round, sums)
		}
		for from, got := range receive {
			if want := message(from, c.Rank(), round); !bytes.Equal(got, want) {
				return fmt.Errorf("round %d: got %d bytes of process %d, want %d", round, len(got), from, len(want))
			}
		}
	}
	return nil
}

func checkReductions(c *Comm) error {
	n, k := int64(c.Size()), int64(c.Rank()+1)
	sums, minima := []int64{k << 40, -k, 1}, []int64{k << 40, -k, 1}
	err := c.Allreduce(sums, minima)
	if want := []int64{n * (n + 1) / 2 << 40, -n * (n + 1) / 2, n}; err != nil || !slices.Equal(sums, want) {
		return fmt.Errorf("sums: got %v, %v, want %v", sums, err, want)
	}
	if want := []int64{1 << 40, -n, 1}; !slices.Equal(minima, want) {
		return fmt.Errorf("minima: got %v, want %v", minima, want)
	}
	return c.Allreduce(nil, nil)
}

// checkShifts sends messages around a ring and along a line, of all lengths around those of a short one and of a piece.
func checkShifts(c *Comm) error {
	receive := make([][]byte, c.Size())
	for _, n := range []int{0, 1, aheadBytes, aheadBytes + 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes} {
		for _, ring := range []bool{true, false} {
			next, before := c.Rank()+1, c.Rank()-1
			switch {
			case ring:
				next, before = next%c.Size(), (before+c.Size())%c.Size()
			case next == c.Size():
				next = -1
			}
			if err := c.Sendrecv(bytes.Repeat([]byte{byte(c.Rank())}, n), next, receive, before); err != nil {
				return err
			}
			if before >= 0 && !bytes.Equal(receive[before], bytes.Repeat([]byte{byte(before)}, n)) {
				return fmt.Errorf("got %d bytes, want %d of process %d", len(receive[before]), n, before)
			}
		}
	}
	return nil
}

// checkWaiting lets process 0 begin a reduction when the others have said that they wait for it.
func checkWaiting(c *Comm) error {
	if c.Rank() == 0 {
		for from := 1; from < c.Size(); from++ {
			if err := c.Sendrecv(nil, -1, make([][]byte, c.Size()), from); err != nil {
				return err
			}
		}
		return c.Allreduce(nil, nil)
	}
	c.reduce(nil, nil)
	waited := 0
	c.Waiting = func() { waited++ }
	c.until(func() bool { return waited == 3 || c.test(c.started) })
	c.Waiting = nil
	if waited != 3 {
		return fmt.Errorf("waited %d times, want 3", waited)
	}
	return c.Sendrecv(nil, 0, nil, -1)
}

// launchers start processes.
var launchers = map[string][]string{
	"mpirun.openmpi": {"--oversubscribe", "-x", "TEPS_TEST_PROCESS", "-np"}, "mpiexec.hydra": {"-n"},
}

func TestCallsUnderEveryLauncher(t *testing.T) {
	for launcher, args := range launchers {
		t.Run(launcher, func(t *testing.T) {
			path, err := exec.LookPath(launcher)
			if err != nil {
				t.Skipf("no MPI with this launcher is installed: %v", err)
			}
			if os.Geteuid() == 0 && launcher == "mpirun.openmpi" {
				args = append([]string{"--allow-run-as-root"}, args...)
			}
			for wanted, want := range map[int]string{processes: "", 1: "MPI counts 1: the launcher does not belong"} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, path, append(slices.Clone(args), strconv.Itoa(wanted), os.Args[0])...)
				cmd.WaitDelay = time.Second
				cmd.Env = append(os.Environ(), "TEPS_TEST_PROCESS=check")
				out, err := cmd.CombinedOutput()
				if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
					t.Errorf("%d processes: got %v, %s, want %q", wanted, err, out, want)
				}
			}
		})
	}
}

func TestTheLauncherChoosesTheLibrary(t *testing.T) {
	all := []string{"TEPS_MPI", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}
	for _, c := range []struct{ set, want []string }{
		{nil, []string{"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"}},
		{[]string{"PMI_SIZE"}, []string{"libmpi.so.12", "libmpich.so.12"}},
		{[]string{"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}, []string{"libmpi.so.40"}},
		{all, []string{"7"}},
	} {
		for _, name := range all {
			t.Setenv(name, "")
		}
		for _, name := range c.set {
			t.Setenv(name, "7")
		}
		if got, _ := candidates(); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.set, got, c.want)
		}
	}
}

func TestNoLibraryIsAnError(t *testing.T) {
	for file, want := range map[string]string{
		"/no/such/libmpi.so": "no MPI library opens: /no/such/libmpi.so: ",
		"libc.so.6":          "libc.so.6 is not a library of MPI 3 or later",
	} {
		t.Setenv("TEPS_MPI", file)
		if _, err := Open(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q in one line", file, err, want)
		}
	}
}
