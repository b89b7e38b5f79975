// SPDX-License-Identifier: Apache-2.0

// Package mpi calls the cluster's MPI library, which it opens at run time: no C compiler is needed, and the same
// program runs under Open MPI and under every library with the binary interface of MPICH (MPICH, Intel MPI, MVAPICH,
// Cray MPICH).
package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/tepsbench/teps/internal/child"
)

// Library is the MPI library of this process.
type Library struct {
	name   string
	entry  [functions]uintptr
	groups []*Comm // keeps memory pinned that MPI may still use after an error
	constants
}

type function int

const (
	initThread function = iota
	finalize
	abort
	errorString
	setErrhandler
	commRank
	commSize
	commSplit
	commSplitType
	commFree
	isend
	issend
	irecv
	iprobe
	getCount
	testall
	iallreduce
	ibarrier
	functions // their number
)

var names = [functions]string{"MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Error_string",
	"MPI_Comm_set_errhandler", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_free",
	"MPI_Isend", "MPI_Issend", "MPI_Irecv", "MPI_Iprobe", "MPI_Get_count", "MPI_Testall", "MPI_Iallreduce",
	"MPI_Ibarrier"}

// constants are those of mpi.h. Handles are numbers in MPICH, and addresses of variables in Open MPI.
type constants struct {
	world, bytes, int64s    uintptr
	ops                     [2]uintptr // MPI_SUM, MPI_MIN
	infoNull, errorsReturn  uintptr
	ignore, shared, inPlace uintptr // MPI_STATUS(ES)_IGNORE, MPI_COMM_TYPE_SHARED, MPI_IN_PLACE
	requestBytes            uintptr // of an MPI_Request
	anySource               uintptr
	sourceWord              int // of an MPI_Status: the word MPI_SOURCE
}

// mpich has the constants of MPICH's binary interface (https://www.mpich.org/abi).
var mpich = constants{world: 0x44000000, bytes: 0x4c00010d, int64s: 0x4c00083a,
	ops: [...]uintptr{0x58000003, 0x58000002}, infoNull: 0x1c000000, errorsReturn: 0x54000001,
	ignore: 1, shared: 1, inPlace: ^uintptr(0), requestBytes: 4, anySource: ^uintptr(1), sourceWord: 2}

const openInPlace = 1 // MPI_IN_PLACE of Open MPI

const threadFunneled = 1 // one thread makes all calls

// candidates returns the files that may be the library of the launcher that started this process, in the order in which
// they are tried, and the reason for them.
func candidates() (files []string, why string) {
	openMPI, mpich := "libmpi.so.40", []string{"libmpi.so.12", "libmpich.so.12"}
	is := func(name string) bool { why = name; return os.Getenv(name) != "" }
	switch {
	case is("TEPS_MPI"):
		return []string{os.Getenv("TEPS_MPI")}, "TEPS_MPI names the library"
	case is("OMPI_COMM_WORLD_SIZE"):
		return []string{openMPI}, why + " is set: the launcher is that of Open MPI"
	case is("PMI_SIZE"):
		return mpich, why + " is set: the launcher is hydra or srun --mpi=pmi2, for MPICH and its relatives"
	}
	return append([]string{openMPI}, mpich...), "install Open MPI or MPICH, or name the library in TEPS_MPI"
}

// Launched returns the number of processes of the job in which a launcher has started this one, or 0.
func Launched() int {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	return 0
}

// Open opens the library that the environment variable TEPS_MPI names, or that of the launcher of this process, or
// otherwise the first one that the system finds. MPI is not started.
func Open() (*Library, error) {
	// UCX, which some libraries use, would replace Go's handlers of SIGSEGV and others.
	if _, set := os.LookupEnv("UCX_ERROR_SIGNALS"); !set {
		_ = os.Setenv("UCX_ERROR_SIGNALS", "")
	}
	files, why := candidates()
	var errs []string
	for _, file := range files {
		l, err := open(file)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err.Error())
	}
	return nil, fmt.Errorf("no MPI library opens: %s (%s)", strings.Join(errs, "; "), why)
}

func open(file string) (*Library, error) {
	h, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_GLOBAL) // Open MPI's components need its symbols
	if err != nil {
		return nil, err
	}
	l := &Library{name: file, constants: mpich}
	symbol := func(name string) (address uintptr) {
		if err == nil {
			address, err = purego.Dlsym(h, name)
		}
		return address
	}
	for f, name := range names {
		l.entry[f] = symbol(name)
	}
	if _, missing := purego.Dlsym(h, "ompi_mpi_comm_world"); missing == nil {
		l.constants = constants{world: symbol("ompi_mpi_comm_world"), bytes: symbol("ompi_mpi_byte"),
			int64s:   symbol("ompi_mpi_int64_t"),
			ops:      [...]uintptr{symbol("ompi_mpi_op_sum"), symbol("ompi_mpi_op_min")},
			infoNull: symbol("ompi_mpi_info_null"), errorsReturn: symbol("ompi_mpi_errors_return"),
			inPlace: openInPlace, requestBytes: unsafe.Sizeof(uintptr(0)), anySource: ^uintptr(0)}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s is not a library of MPI 3 or later: %w", file, err), purego.Dlclose(h))
	}
	return l, nil
}

// call calls a function. Memory to which arguments point lives and stays in its place during the call.
//
//go:uintptrescapes
func (l *Library) call(f function, arguments ...uintptr) error {
	if code, _, _ := purego.SyscallN(l.entry[f], arguments...); int32(code) != 0 {
		text, n := make([]byte, 8192), new(int32) // MPI_MAX_ERROR_STRING is 256 to 1024
		purego.SyscallN(l.entry[errorString], code, uintptr(unsafe.Pointer(&text[0])), uintptr(unsafe.Pointer(n)))
		return fmt.Errorf("%s: %s", names[f], text[:*n])
	}
	return nil
}

// Init starts MPI, once in a process, and returns the group of all processes. It is an error if their number is not
// that of the launcher. It locks the calling goroutine to its thread; only this goroutine may call MPI. Some libraries
// print an error of MPI_Init_thread and end the process.
func (l *Library) Init(processes int) (*Comm, error) {
	runtime.LockOSThread()
	openMPI, launched := l.inPlace == openInPlace, os.Getenv("OMPI_COMM_WORLD_SIZE")+os.Getenv("PMIX_NAMESPACE") != ""
	if openMPI && processes > 1 && !launched { // Open MPI would end the process
		return nil, l.wrongLauncher(processes, "without PMIx")
	}
	if err := l.call(initThread, 0, 0, threadFunneled, uintptr(unsafe.Pointer(new(int32)))); err != nil {
		return nil, err
	}
	err := l.call(setErrhandler, l.world, l.errorsReturn) // groups that are split from this one inherit it
	if err != nil {
		return nil, err
	}
	c, err := l.comm(l.world)
	if err == nil && c.size != processes {
		_ = l.Finalize() // removes the files that a process without a launcher makes
		err = l.wrongLauncher(processes, fmt.Sprintf("MPI counts %d", c.size))
	}
	return c, err
}

func (l *Library) wrongLauncher(processes int, problem string) error {
	return fmt.Errorf("started as one of %d processes, but %s: the launcher does not belong to the library %s; start "+
		"with that of the library (Open MPI: mpirun, srun --mpi=pmix; MPICH: hydra, srun --mpi=pmi2), or name the "+
		"launcher's library in TEPS_MPI", processes, problem, l.name)
}

// Finalize ends MPI. All processes call it.
func (l *Library) Finalize() error { return l.call(finalize) }

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
