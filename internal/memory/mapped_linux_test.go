// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race

package memory

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/plugins"
)

func TestFailedAllocationIsErrMemory(t *testing.T) {
	arena := New()
	if a := Allocate[uint64](arena, "everything", 1<<55); a != nil {
		t.Error("allocating 2^58 bytes returned an array")
	}
	if b := Allocate[uint64](arena, "little", 1); b != nil {
		t.Error("an allocation after one that failed returned an array")
	}
	err := arena.Err()
	if !errors.Is(err, plugins.ErrMemory) || !strings.Contains(err.Error(), "everything") {
		t.Errorf("allocating 2^58 bytes: error is %v, want %v for everything", err, plugins.ErrMemory)
	}
}

func TestPagesComeFromTheWantedNode(t *testing.T) {
	nodes := Nodes()
	if len(nodes) == 0 {
		t.Skip("this system does not list NUMA nodes")
	}
	node := nodes[len(nodes)-1]
	arena := NewOn(node)
	defer arena.ReleaseAll()
	a := Allocate[uint64](arena, "a", 1<<20)
	if err := arena.Err(); errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		t.Skip(err) // a kernel or a sandbox without mbind
	} else if err != nil {
		t.Fatal(err)
	}
	for i := range a {
		a[i] = 1
	}
	maps, err := os.ReadFile("/proc/self/numa_maps")
	if err != nil {
		t.Skip(err)
	}
	if want := fmt.Sprintf("bind:%d", node); !strings.Contains(string(maps), want) {
		t.Errorf("no mapping of this process has the policy %s", want)
	}
}

func TestNodeThatDoesNotExistIsAnError(t *testing.T) {
	arena := NewOn(60)
	if a := Allocate[uint64](arena, "a", 100); a != nil || arena.Err() == nil {
		t.Errorf("an array on node 60: %d elements and %v, want an error", len(a), arena.Err())
	}
}
