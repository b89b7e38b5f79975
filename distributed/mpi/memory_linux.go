// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/internal/child"
)

// system names a running kernel and the processes that this one sees there.
func system() string {
	host, _ := os.Hostname()
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	processes, _ := os.Readlink("/proc/self/ns/pid")
	return fmt.Sprint(host, string(boot), processes)
}

// shareMemory returns n zeros and where other processes of the system find them until file is closed, or nil if it
// refuses. The memory has no name, so nothing remains when the process is killed.
func shareMemory[T any](system string, n int) (memory []T, at string, file *os.File) {
	fd, err := unix.MemfdCreate("teps-mpi-rank", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, "", nil
	}
	file = os.NewFile(uintptr(fd), "teps-mpi-rank")
	path, err := child.DescriptorPath(file.Fd())
	if err != nil {
		_ = file.Close()
		return nil, "", nil
	}
	var element T
	if file.Truncate(int64(n)*int64(unsafe.Sizeof(element))) == nil {
		memory = mapMemory[T](fd, n)
	}
	return memory, system + path, file
}

// openMemory maps memory of another process, or returns nil if it is on another host or refused.
func openMemory[T any](system, at string, n int) []T {
	path, here := strings.CutPrefix(at, system)
	if !here {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	return mapMemory[T](fd, n)
}

func mapMemory[T any](fd, n int) []T {
	var element T
	mapping, err := unix.Mmap(fd, 0, n*int(unsafe.Sizeof(element)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(mapping, unix.MADV_HUGEPAGE) // small pages do where the kernel refuses
	return unsafe.Slice((*T)(unsafe.Pointer(&mapping[0])), n)
}
