// SPDX-License-Identifier: Apache-2.0

// Package distributed is an engine that searches with many ranks. Each rank owns a part of the graph, and ranks share
// nothing but messages. The graph is partitioned in one dimension (every vertex with all its edges belongs to one
// rank) or in two (a grid of ranks over the adjacency matrix). Every rank counts messages and bytes and times phases.
// Ranks are goroutines of one process; package mpi runs the same ranks as processes.
//
// Start reading with partition.go, which draws the grid, and with bfs2d.go and bfs1d.go, which hold the searches.
package distributed

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
)

// New returns an engine whose ranks are goroutines.
func New() plugins.Engine {
	return plugins.New(func() (plugins.Description, error) {
		return Describe("distributed", "Direction-optimizing search with ranks that own parts of the graph, partitioned in "+
			"one or two dimensions; ranks are goroutines.", 4), nil
	}, build)
}

// Describe describes an engine of ranks.
func Describe(name, summary string, defaultRanks int) plugins.Description {
	return plugins.Description{
		Name:    name,
		Version: "2.5", // changes whenever the method or the meaning of an option changes
		Summary: summary,
		Devices: []plugins.Device{{Kind: "cpu", Name: machine.Processor(), Units: runtime.GOMAXPROCS(0)}},
		Options: options(defaultRanks),
		Memory:  memoryBound(Grid{defaultRanks, 1}, 1),
		Limits:  plugins.Limits{Vertices: maxUint32 - 1},
	}
}

// Construction is the result of kernel 1 on one rank.
type Construction struct {
	Labels  int64 // of the graph
	Bytes   int64 // of the part and of the search, without messages
	Entries int64 // adjacency entries, without duplicates
	Elapsed time.Duration
	Phases  []plugins.Phase
}

// Combine combines the results of kernel 1 on all ranks. kind describes a rank.
func Combine(c Configuration, ranks []Construction, kind string) plugins.Built {
	built := plugins.Built{
		Vertices: ranks[0].Labels, VertexBits: 32, Details: c.details(kind),
		Tuning: "alpha and beta are fixed defaults or set by the user before kernel 1",
	}
	var entries int64
	var phases [][]plugins.Phase
	for _, r := range ranks {
		phases = append(phases, r.Phases)
		built.Bytes += r.Bytes
		entries += r.Entries
		built.Elapsed = max(built.Elapsed, r.Elapsed)
	}
	built.Phases = plugins.CombinePhases(phases)
	built.Entries = plugins.Counted(entries)
	return built
}

// fits refuses numbers of ranks that this machine has no memory for, if the graph has the edge factor of Graph500, 16.
func fits(ctx context.Context, g Grid, threads, tuples int) error {
	available, source, err := machine.AvailableMemory(ctx)
	if err != nil {
		return nil // unknown
	}
	m := memoryBound(g, threads)
	need := m.Fixed + int64(m.PerVertex*float64(tuples)/16+m.PerTuple*float64(tuples))
	if need <= available {
		return nil
	}
	return fmt.Errorf("%d ranks need %s, this machine has %s available (%s); use fewer ranks or a smaller graph: %w",
		g.Ranks(), units.Bytes(need), units.Bytes(available), source, plugins.ErrMemory)
}

// FirstError returns the error of the rank that made the others stop, or nil.
func FirstError(ranks []error) error {
	var first error
	for _, err := range ranks {
		if err != nil && (first == nil || errors.Is(first, ErrOtherRank)) {
			first = err
		}
	}
	return first
}
