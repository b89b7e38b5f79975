// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package driver

/*
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <cuda.h>

// As in nccl.h, which is not needed to build the program.
typedef struct { char internal[128]; } ncclUniqueId;

static struct {
	int (*GetUniqueId)(ncclUniqueId *);
	int (*CommInitRank)(void **, int, ncclUniqueId, int);
	int (*CommAbort)(void *);
	int (*GroupStart)(void);
	int (*GroupEnd)(void);
	int (*Send)(const void *, size_t, int, int, void *, CUstream);
	int (*Recv)(void *, size_t, int, int, void *, CUstream);
	const char *(*GetErrorString)(int);
} nccl;

// openNCCL returns what is missing, or 0.
static const char *openNCCL(void) {
	void *library = dlopen("libnccl.so.2", RTLD_NOW);
	if (library == 0) return dlerror();
	const char *names[] = {"ncclGetUniqueId", "ncclCommInitRank", "ncclCommAbort", "ncclGroupStart", "ncclGroupEnd",
		"ncclSend", "ncclRecv", "ncclGetErrorString"};
	for (int i = 0; i < 8; i++) {
		void *function = dlsym(library, names[i]);
		if (function == 0) return dlerror();
		((void **)&nccl)[i] = function;
	}
	return 0;
}

static int uniqueID(void *id) { return nccl.GetUniqueId(id); }
static int initRank(void **comm, int ranks, void *id, int rank) {
	return nccl.CommInitRank(comm, ranks, *(ncclUniqueId *)id, rank);
}
static int commAbort(void *comm) { return nccl.CommAbort(comm); }
static int groupStart(void) { return nccl.GroupStart(); }
static int groupEnd(void) { return nccl.GroupEnd(); }
static int sendBytes(uint64_t at, size_t bytes, int to, void *comm, void *stream) {
	return nccl.Send((void *)at, bytes, 1, to, comm, stream); // 1: ncclUint8
}
static int receiveBytes(uint64_t at, size_t bytes, int from, void *comm, void *stream) {
	return nccl.Recv((void *)at, bytes, 1, from, comm, stream);
}
static const char *errorText(int code) { return nccl.GetErrorString(code); }
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// NCCL is a communicator of NVIDIA's library, with a rank for each process. Its kernels run at the same time as
// one that leaves NCCLBlocks multiprocessors free.
type NCCL struct {
	comm   unsafe.Pointer
	stream cu.Stream
}

// NCCLBlocks is the number of blocks of a kernel of NCCL, unless the environment says otherwise.
const NCCLBlocks = 8

// NCCLBytes is device memory that is left to NCCL.
const NCCLBytes = 1 << 30

// OpenNCCL opens the library. On one process it returns the identity of a new communicator.
func OpenNCCL() ([]byte, error) {
	for name, value := range map[string]string{
		"NCCL_MAX_CTAS": fmt.Sprint(NCCLBlocks), "NCCL_CGA_CLUSTER_SIZE": "0", // clusters need neighbors that are free
	} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
	if missing := C.openNCCL(); missing != nil {
		return nil, fmt.Errorf("%w: NCCL does not open: %s; install libnccl.so.2, add its directory to LD_LIBRARY_PATH, or "+
			"set transfer=staged", plugins.ErrUnavailable, C.GoString(missing))
	}
	id := make([]byte, unsafe.Sizeof(C.ncclUniqueId{}))
	return id, ncclError("identity", C.uniqueID(unsafe.Pointer(&id[0])))
}

func ncclError(what string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("NCCL: %s: %s", what, C.GoString(C.errorText(code)))
}

// NewNCCL joins a communicator in the context of a GPU. All ranks call it at the same time.
func NewNCCL(id []byte, rank, ranks int) (n *NCCL, err error) {
	n = &NCCL{}
	if n.stream, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return nil, err
	}
	if err := ncclError("start", C.initRank(&n.comm, C.int(ranks), unsafe.Pointer(&id[0]), C.int(rank))); err != nil {
		return nil, errors.Join(err, n.stream.Destroy())
	}
	return n, nil
}

// Transfer is memory of the device on its way to or from a rank.
type Transfer struct {
	Rank  int
	At    uint64
	Bytes uint64
}

// Move sends and receives, and waits. All ranks call it; the other ends of transfers have as many bytes.
func (n *NCCL) Move(send, receive []Transfer) error {
	stream := unsafe.Pointer(n.stream.C())
	err := ncclError("begin", C.groupStart())
	for _, t := range send {
		if err == nil && t.Bytes > 0 {
			err = ncclError("send", C.sendBytes(C.uint64_t(t.At), C.size_t(t.Bytes), C.int(t.Rank), n.comm, stream))
		}
	}
	for _, t := range receive {
		if err == nil && t.Bytes > 0 {
			err = ncclError("receive", C.receiveBytes(C.uint64_t(t.At), C.size_t(t.Bytes), C.int(t.Rank), n.comm, stream))
		}
	}
	if e := ncclError("transfer", C.groupEnd()); err == nil {
		err = e
	}
	if err == nil {
		err = n.stream.Synchronize()
	}
	return err
}

// Close leaves the communicator.
func (n *NCCL) Close() error {
	return errors.Join(ncclError("end", C.commAbort(n.comm)), n.stream.Destroy())
}
