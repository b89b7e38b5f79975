// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func TestChecksumDependsOnEveryTupleAndTheirOrder(t *testing.T) {
	edges := listOf(t, parse(t, "kron:13")) // two blocks
	seed := maphash.MakeSeed()
	want := Checksum(seed, edges)
	differs := func(what string, change, undo func()) {
		t.Helper()
		change()
		if Checksum(seed, edges) == want {
			t.Errorf("%s: the same checksum", what)
		}
		if undo(); Checksum(seed, edges) != want {
			t.Errorf("%s: another checksum after the change was undone", what)
		}
	}
	for _, i := range []int{0, 1, 1<<16 - 1, 1 << 16, len(edges) - 1} {
		for bit := range 32 {
			flip := func() { edges[i].high ^= 1 << bit }
			differs("a bit", flip, flip)
		}
	}
	swap := func(i, j int) func() { return func() { edges[i], edges[j] = edges[j], edges[i] } }
	differs("two tuples", swap(3, 4), swap(3, 4))
	blocks := func() {
		for i := range 1 << 16 {
			swap(i, i+1<<16)()
		}
	}
	differs("two blocks", blocks, blocks)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if Checksum(seed, edges) != want {
		t.Error("the checksum depends on the number of threads")
	}
	if Checksum(seed, edges[1:]) == want || Checksum(seed, nil) != 0 {
		t.Error("the checksum does not depend on the number of tuples")
	}
}

func TestWriteEdgesWritesThePackedForm(t *testing.T) {
	var out bytes.Buffer
	must.Do(WriteEdges(&out, []Edge{MakeEdge(0x123456789abc, 0xfedcba987654)}))
	want := []byte{0xbc, 0x9a, 0x78, 0x56, 0x54, 0x76, 0x98, 0xba, 0x34, 0x12, 0xdc, 0xfe}
	if !bytes.Equal(out.Bytes(), want) {
		t.Errorf("want % x, got % x", want, out.Bytes())
	}
}
