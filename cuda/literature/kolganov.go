// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package literature

import (
	"math"
	"math/bits"
	"runtime"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	paper "github.com/tepsbench/teps/internal/kolganov"
	"github.com/tepsbench/teps/plugins"
)

// kolganov is the hybrid of figure 2 over a transformed graph (kernels/kolganov.cu).
func kolganov(b *base, set plugins.Settings) method {
	number, original := b.transform(set)
	aligned := min((b.labels*uint64(set.Int("aligned"))/100+31)/32*32, b.labels)
	rowsIndices, endV := b.align(aligned)
	levels, parents := b.array("levels", 4*b.labels), b.array("parents", 4*b.labels)
	Qcurr, Qnext := b.array("Qcurr", 4*b.labels), b.array("Qnext", 4*b.labels)
	child := uint64(math.MaxUint64)
	if n := set.Int("child"); n > 0 {
		child = uint64(n)
		b.Fail("", cu.SetLimit(cu.DevRuntimePendingLaunchCount, 2*maxPending))
	}
	duplicates, rule := set.Text("claim") == "off", set.Switch()
	room := uint64(0) // of a queue with duplicates
	if duplicates {
		room = max(1, b.labels/b.queueShare)
		b.named = make([]plugins.Counter, 0, 3*maxLevels)
	}
	state, countQ := graph.TopDown, uint64(1)
	m := method{
		begin: func(root uint64) {
			state, countQ = rule.First(), 1
			b.fill(levels, 0, 4*b.labels)
			b.Each(1, kolganovBeginKernel(number, root, levels, parents, Qcurr))
		},
		step: func(depth uint64) (plugins.Level, bool) {
			lvl := depth + 2
			l := plugins.Level{Direction: state, Frontier: int64(countQ)}
			b.clearCounters()
			if state == graph.TopDown {
				if b.Err == nil {
					b.Fail("", b.gpu.Launch(cu.NoStream, int((countQ+masters-1)/masters), masters, kolganovTdKernel(Qcurr, countQ,
						b.row,
						b.column, lvl, child, maxPending, levels, parents, Qnext, room, b.counters)))
				}
				Qcurr, Qnext = Qnext, Qcurr
			} else {
				b.Each(aligned, kolganovBuKernel(0, aligned, 32, b.labels, rowsIndices, endV, lvl, levels, levels, parents,
					b.counters))
				b.Each(b.labels-aligned, kolganovBuKernel(aligned, b.labels, 1, b.labels, rowsIndices, b.column, lvl, levels,
					levels, parents, b.counters))
			}
			n := b.read() // vis and inLvl
			l.Edges = plugins.Counted(n.edges)
			if state == graph.TopDown {
				b.count(&l, "child grids", n.examined)
			}
			if duplicates {
				b.count(&l, "duplicates", 0) // counted after the clock
			}
			old := state
			state = paper.Next(rule, graph.SwitchState{Direction: state, Frontier: n.vertices, Previous: int64(countQ),
				Vertices: int64(b.labels)}, n.edges, int64(b.entries))
			countQ = uint64(n.vertices)
			full := old == graph.TopDown && duplicates && countQ > room
			if full || old == graph.BottomUp && state == graph.TopDown {
				b.clearCounters()
				b.Each(b.labels, kolganovQueueKernel(levels, b.labels, lvl, Qcurr, b.counters))
				if full {
					countQ = uint64(b.read().vertices)
				}
			}
			return l, countQ > 0
		},
		end: func() {
			b.Each(b.labels, kolganovParentsKernel(number, original, b.labels, levels, parents, b.parent))
		},
	}
	if duplicates {
		m.frontiers = func(levels []plugins.Level, root uint64) {
			queued := make([]int64, len(levels))
			for i, l := range levels {
				queued[i] = l.Frontier
			}
			b.countFrontiers(levels, root)
			for i, l := range levels {
				l.Counters[len(l.Counters)-2].Value = queued[i] - l.Frontier // kernel launches are the last counter
			}
		}
	}
	return m
}

const (
	masters    = 32      // master threads of a block; before CUDA 12 the child grids of a block run one after the other
	maxPending = 1 << 15 // child grids that may wait to run; launches are not reliable at the driver's limit
)

// transform makes rows and applies section 2 to them. It returns the number of each label, and the reverse.
func (b *base) transform(set plugins.Settings) (number, original uint64) {
	b.makeRows()
	plain, degrees := b.array("ranks", 4*b.labels), b.array("ranks", 4*b.labels)
	b.Each(b.labels, kolganovRanksKernel(0, b.labels, plain))
	keys, buffer := b.array("keys of degrees", 8*b.labels), b.array("keys of degrees", 8*b.labels)
	b.Each(b.labels, kolganovDegreesKernel(b.row, b.labels, keys))
	b.Sort(&keys, &buffer, int64(b.labels), 32, 64)
	b.Each(b.labels, kolganovRanksKernel(keys, b.labels, degrees))
	b.Release(&keys, &buffer)
	number, rank, host := plain, plain, set.Text("lists") == "host"
	if set.Text("global") == "on" {
		number = degrees
	}
	if set.Text("local") == "on" {
		rank = degrees
	}
	b.relabel(host, number, rank)
	if set.Text("renumber") == "on" && b.Err == nil {
		X := driver.Get(&b.Work, make([]int64, b.labels+1), b.row)
		A := driver.Get(&b.Work, make([]uint32, b.entries), b.column)
		order, err := paper.Order(b.Ctx, X, A, runtime.GOMAXPROCS(0))
		b.Fail("", err)
		again, rankOfNumber := b.array("numbers", 4*b.labels), b.array("ranks", 4*b.labels)
		if b.Err == nil && b.labels > 0 {
			b.Fail("", driver.WriteAll(again, order))
		}
		b.Each(b.labels, kolganovScatterKernel(number, rank, b.labels, rankOfNumber))
		b.relabel(host, again, rankOfNumber)
		b.Each(b.labels, kolganovTargetsKernel(number, b.labels, again))
		b.Release(&again, &rankOfNumber)
	}
	for _, used := range []uint64{plain, degrees} {
		if used != number {
			b.Release(&used)
		}
	}
	original = b.array("labels", 4*b.labels)
	b.Each(b.labels, kolganovScatterKernel(number, 0, b.labels, original))
	return number, original
}

// relabel replaces the rows by those in new numbers, with each list in the order of its neighbors' ranks. Keys and
// their buffer are the largest arrays of kernel 1, so the old rows make room for the buffer.
func (b *base) relabel(host bool, number, rank uint64) {
	keys, targetBits := b.array("keys of rows", 8*b.entries), bits.Len64(max(b.labels, 2)-1)
	b.Each(32*b.labels, kolganovKeysKernel(b.row, b.column, b.labels, number, rank, uint64(targetBits), keys))
	b.Release(&b.row, &b.column)
	buffer := b.array("keys of rows", 8*b.entries)
	b.Sort(&keys, &buffer, int64(b.entries), 0, 2*targetBits)
	b.Release(&buffer)
	row, place := b.array("X", 8*(b.labels+1)), b.Array
	if host {
		place = b.HostArray
	}
	column := place("A", int64(4*b.entries))
	b.MakeLists(driver.Keys{Address: keys, N: b.entries, TargetBits: targetBits, To: b.labels}, 0, column, row)
	b.Release(&keys)
	numberOfRank := b.array("numbers of ranks", 4*b.labels)
	b.Each(b.labels, kolganovScatterKernel(rank, number, b.labels, numberOfRank))
	b.Each(b.entries, kolganovTargetsKernel(column, b.entries, numberOfRank))
	b.Release(&numberOfRank)
	b.row, b.column = row, column
}

// align interleaves the lists of the first vertices.
func (b *base) align(aligned uint64) (rowsIndices, endV uint64) {
	blocks := (aligned + 31) / 32
	block := b.array("blocks", 8*(blocks+1))
	b.clearCounters()
	b.Each(aligned, kolganovBlocksKernel(b.row, aligned, block))
	b.PrefixSums(block, blocks, b.counters)
	rowsIndices, endV = b.array("rowsIndices", 16*b.labels), b.array("endV", 4*uint64(b.read().vertices))
	b.Each(b.labels, kolganovAlignKernel(b.row, b.column, b.labels, aligned, block, rowsIndices, endV))
	b.Release(&block)
	return rowsIndices, endV
}
