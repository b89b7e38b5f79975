// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/internal/mpi"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// ranksOf calls do for each rank of a group at the same time and returns the errors.
func ranksOf(n int, do func(world team.Group) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for rank, world := range enginetest.Goroutines(n) {
		all.Go(func() { errs[rank] = do(world) })
	}
	all.Wait()
	return errs
}

// hostKernel does at barriers what kernels/exchange.cuh and fold.cuh do, in memory of the host.
type hostKernel struct {
	*carrier
	rank, ranks uint64
}

func u32(a team.Array) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(a.Host))), len(a.Host)/4)
}
func u64(a team.Array) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(a.Host))), len(a.Host)/8)
}

func newHostKernel(world team.Group, columns, words uint64) *hostKernel {
	ranks := uint64(world.Size())
	host := func(bytes uint64) team.Array { return team.Array{Host: make([]byte, bytes)} }
	k := &hostKernel{&carrier{
		world: world, columns: columns, words: words, mail: make([]mailbox, ranks),
		frontier: host(2 * 4 * ranks * words), list: host(2 * 4 * ranks * 32 * words),
		inbox: host(8 * columns * 32 * words), outbox: host(8 * columns * 32 * words),
	}, uint64(world.Rank()), ranks}
	k.prepare()
	k.move = k.throughMPI
	return k
}

// number is what rank from writes to rank to as word i before a barrier.
func number(barrier, from, to, i uint64) uint64 { return barrier<<24 ^ from<<16 ^ to<<8 ^ i }

// count is how many vertices rank from has found for rank to.
func count(barrier, from, to uint64) uint64 { return (barrier + 3*from + to) % 5 }

// meet writes data and messages of a barrier, waits for those of the others, and checks them.
func (h *hostKernel) meet(barrier, after uint64) error {
	half, vertices := barrier%2, 32*h.words
	column, row := h.rank%h.columns, h.rank/h.columns
	sent := func(from, to uint64) uint64 {
		if after == afterSparseFrontier {
			to = from // the same to all
		}
		return count(barrier, from, to)
	}
	for i := range h.words {
		u32(h.frontier)[(half*h.ranks+h.rank)*h.words+i] = uint32(number(barrier, h.rank, 0, i))
	}
	for i := range sent(h.rank, h.rank) {
		u32(h.list)[(half*h.ranks+h.rank)*vertices+i] = uint32(number(barrier, h.rank, 1, i))
	}
	for c := range h.columns {
		for i := range sent(h.rank, row*h.columns+c) {
			u64(h.outbox)[c*vertices+i] = number(barrier, h.rank, row*h.columns+c, i)
		}
	}
	for k := range h.ranks {
		if k != h.rank {
			m := &h.mail[k][h.rank][half]
			m.Counter[0], m.Sent, m.After, m.Half = number(barrier, h.rank, 2, k), sent(h.rank, k), after, half
		}
	}
	for i := range h.ranks { // flags become visible in any order
		if k := (barrier + i) % h.ranks; k != h.rank {
			runtime.Gosched()
			atomic.StoreUint64(&h.mail[k][h.rank][half].Barrier, barrier)
		}
	}
	for k := range h.ranks {
		if k == h.rank {
			continue
		}
		m := &h.mail[h.rank][k][half]
		for flag := uint64(0); flag != barrier; {
			runtime.Gosched()
			if flag = atomic.LoadUint64(&m.Barrier); flag == abandoned {
				return errAbandoned
			}
		}
		if m.Counter[0] != number(barrier, k, 2, h.rank) || m.Sent != sent(k, h.rank) {
			return fmt.Errorf("barrier %d: rank %d got the message %+v of rank %d", barrier, h.rank, *m, k)
		}
		for i := uint64(0); after == afterWords && i < h.words; i++ {
			if got := u32(h.frontier)[(half*h.ranks+k)*h.words+i]; got != uint32(number(barrier, k, 0, i)) {
				return fmt.Errorf("barrier %d: rank %d got word %d of rank %d: %x", barrier, h.rank, i, k, got)
			}
		}
		for i := uint64(0); after == afterSparseFrontier && i < m.Sent; i++ {
			if got := u32(h.list)[(half*h.ranks+k)*vertices+i]; got != uint32(number(barrier, k, 1, i)) {
				return fmt.Errorf("barrier %d: rank %d got vertex %d of rank %d: %x", barrier, h.rank, i, k, got)
			}
		}
		for i := uint64(0); after == afterFold && k/h.columns == row && i < m.Sent; i++ {
			if got := u64(h.inbox)[k%h.columns*vertices+i]; got != number(barrier, k, row*h.columns+column, i) {
				return fmt.Errorf("barrier %d: rank %d got pair %d of rank %d: %x", barrier, h.rank, i, k, got)
			}
		}
	}
	return nil
}

var errAbandoned = errors.New("abandoned")

// run lets the kernel meet the others, while the carrier serves it.
func (h *hostKernel) run(kernel func() error) (fromKernel, fromCarrier error) {
	done := make(chan error, 1)
	go func() { done <- kernel() }()
	over := false
	fromCarrier = h.serve(func() (bool, error) {
		select {
		case fromKernel = <-done:
			over = true
		default:
		}
		return over, nil
	})
	return fromKernel, fromCarrier
}

// deliver checks what arrives at the barriers of two launches, all kinds of them in turn.
func deliver(world team.Group, columns, barriers uint64) error {
	h := newHostKernel(world, columns, 8)
	for launch := uint64(1); launch <= 2; launch++ {
		if err := team.Agree(world, errors.Join(h.run(func() (err error) {
			for n := uint64(1); n <= barriers && err == nil; n++ {
				err = h.meet(launch<<32|n, n*7/3%4)
			}
			return err
		}))); err != nil {
			return err
		}
	}
	return nil
}

func TestCarrierDeliversWhatKernelsSend(t *testing.T) {
	for _, grid := range []struct {
		ranks   int
		columns uint64
	}{{2, 1}, {2, 2}, {3, 3}, {4, 2}, {6, 2}} {
		for _, err := range ranksOf(grid.ranks, func(world team.Group) error { return deliver(world, grid.columns, 40) }) {
			if err != nil {
				t.Errorf("%+v: %v", grid, err)
			}
		}
	}
}

// The same with processes under MPI, which are this program with this test.
func TestCarrierDeliversOverMPI(t *testing.T) {
	const variable, processes = "TEPS_TEST_PROCESS", 2
	if os.Getenv(variable) != "" {
		thread := must.Get(mpi.Begin(processes))
		var err error
		thread.Do(func() { err = deliver(thread.World, 2, 8) })
		must.Do(errors.Join(err, thread.End()))
		return
	}
	if testing.Short() {
		t.Skip("starts MPI")
	}
	found := false
	for launcher, args := range map[string][]string{
		"mpirun.openmpi": {"--oversubscribe", "--allow-run-as-root"}, "mpiexec.hydra": nil,
	} {
		path, err := exec.LookPath(launcher)
		if err != nil {
			continue
		}
		found = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, path, append(args, "-n", strconv.Itoa(processes), os.Args[0], "-test.run",
			"^TestCarrierDeliversOverMPI$")...)
		cmd.Env = append(os.Environ(), variable+"=1", "OMPI_MCA_mpi_yield_when_idle=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", launcher, err, out)
		}
		cancel()
	}
	if !found {
		t.Skip("neither mpirun.openmpi nor mpiexec.hydra is in PATH; install Open MPI or MPICH")
	}
}

// A process that fails ends the searches of all, with its reason in one of them, and the next search is right again.
func TestAllProcessesEndIfOneFails(t *testing.T) {
	reason := errors.New("no memory")
	for rank, err := range ranksOf(3, func(world team.Group) error {
		h := newHostKernel(world, 1, 8)
		search := func(first uint64, fails int) error {
			if world.Rank() == fails {
				return team.Agree(world, reason)
			}
			kernel, carrier := h.run(func() (err error) {
				for n := first; n < first+4 && err == nil; n++ {
					err = h.meet(n, afterWords)
				}
				return err
			})
			if fails >= 0 && !errors.Is(kernel, errAbandoned) {
				return fmt.Errorf("the kernel ended with %w", kernel)
			}
			return team.Agree(world, carrier)
		}
		first := search(1, 1)
		if err := search(10, -1); err != nil {
			return fmt.Errorf("the next search: %w", err)
		}
		return first
	}) {
		if want := map[bool]error{true: reason, false: team.ErrOther}[rank == 1]; !errors.Is(err, want) ||
			errors.Is(err, context.Canceled) != (rank != 1) || strings.Contains(err.Error(), "\n") {
			t.Errorf("rank %d: got %v, want %v", rank, err, want)
		}
	}
}

func TestProcessesGatherNumbers(t *testing.T) {
	for rank, err := range ranksOf(4, func(world team.Group) error {
		own := make([]uint64, 1+world.Rank())
		own[world.Rank()] = uint64(world.Rank()) << 40
		all, err := team.GatherNumbers(world, own...)
		for k, numbers := range all {
			if len(numbers) != 1+k || numbers[k] != uint64(k)<<40 {
				return fmt.Errorf("got %v of rank %d", numbers, k)
			}
		}
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
