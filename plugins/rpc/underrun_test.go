package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/tepsbench/teps/graph"
)

// writeBefore writes to parent[-1], as a library in C might.
func writeBefore(parent []graph.Vertex) {
	*(*graph.Vertex)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(parent)), -8)) = 7
}

// What an engine writes before the first parent lies in memory that other engines look at.
func TestAWriteBeforeTheParentsIsFoundAndUndone(t *testing.T) {
	s := newStage(t, HostOptions{})
	client, parent := s.open("writes before the parents"), s.parents(3)
	if _, err := client.Construct(context.Background(), s.triangle()); err != nil {
		t.Fatal(err)
	}
	_, err := client.Search(context.Background(), 1, parent)
	if !errors.Is(err, ErrSegment) || !strings.Contains(err.Error(), "before parent[0]") {
		t.Errorf("got %v", err)
	}
	s.works(parent)
}
