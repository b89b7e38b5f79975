// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tepsbench/teps/graph"
)

// Exchange connects the parts of a validator. Its methods are collective: all parts call the same ones in the same
// order, on one thread. After an error the exchange is unusable, and every call of every part returns an error.
type Exchange interface {
	Rank() int // of this part, 0..Size()-1
	Size() int // number of parts
	// All sends send[q] to part q, which may be this one, and returns what each part sent here, by rank. The caller may
	// change send afterwards; received is valid until the next call.
	All(send [][]byte) (received [][]byte, err error)
	// Sum and Min combine the values of all parts, element by element and in place.
	Sum(values []int64) error
	Min(values []int64) error
}

// ErrOtherPart is the error of a part that stopped because another part failed. The error of that part has the reason.
var ErrOtherPart = fmt.Errorf("another part of the validator stopped: %w", context.Canceled)

// fail keeps the first error of the work since the last reduction. The next one returns it.
func (p *Part) fail(err error) {
	if p.failed == nil {
		p.failed = err
	}
}

// sum adds up values over the parts. It ends a step of work: if the work of a part failed, or its context ended, all
// parts return an error, and none of them sends its results.
func (p *Part) sum(ctx context.Context, values ...*int64) error {
	return p.reduce(ctx, p.exchange.Sum, values)
}

// min is sum with minima.
func (p *Part) min(ctx context.Context, values ...*int64) error {
	return p.reduce(ctx, p.exchange.Min, values)
}

// max is sum with the maximum.
func (p *Part) max(ctx context.Context, value *int64) error {
	negative := -*value
	err := p.min(ctx, &negative)
	*value = -negative
	return err
}

func (p *Part) reduce(ctx context.Context, operation func([]int64) error, values []*int64) error {
	p.fail(ctx.Err())
	own, all := p.failed, make([]int64, 1, 1+len(values)) // all[0] is below 0 if a part failed
	if p.failed = nil; own != nil {
		all[0] = -1
	}
	for _, v := range values {
		all = append(all, *v)
	}
	err := operation(all)
	for i, v := range values {
		*v = all[1+i]
	}
	if err == nil && all[0] < 0 {
		err = cmp.Or(own, ErrOtherPart)
	}
	return err
}

// swap is sum, and then Exchange.All unless there is an error.
func (p *Part) swap(ctx context.Context, send [][]byte, values ...*int64) ([][]byte, error) {
	if err := p.sum(ctx, values...); err != nil {
		return nil, err
	}
	return p.exchange.All(send)
}

// lowest returns the violation of the part with the lowest candidate, a vertex or a tuple, or nil if all candidates are
// math.MaxInt64.
func (p *Part) lowest(ctx context.Context, candidate int64, explain func(at int64) *Violation) error {
	low := candidate
	if err := p.min(ctx, &low); err != nil || low == math.MaxInt64 {
		return err
	}
	send, violation := make([][]byte, p.size), new(Violation)
	if candidate == low {
		text, _ := json.Marshal(explain(low)) // numbers and text have no errors
		for q := range send {
			send[q] = text
		}
	}
	received, err := p.exchange.All(send)
	if err == nil {
		err = json.Unmarshal(slices.Concat(received...), violation)
	}
	if err != nil {
		return err
	}
	return violation
}

// parallel calls work for ranges of items on the threads of this part.
func (p *Part) parallel(ctx context.Context, items, grain int64, work func(first, last int64)) {
	_, err := graph.Parallel(ctx, len(p.scanners), items, grain, func(_ int, first, last int64) bool {
		work(first, last)
		return true
	})
	p.fail(err)
}

// group makes a message of records of size bytes for each part. visit looks at a range of items and calls put with the
// part that a record is for; put returns the record's number among all of them, by part, whose bytes in p.out visit
// writes. visit is called twice: the first time the records are only counted, and put returns -1. The records for part
// q are numbers at[q]..at[q+1]-1.
func (p *Part) group(
	ctx context.Context, items, grain int64, size int, visit func(first, last int64, put func(to int) int),
) (send [][]byte, at []int) {
	threads, stride := int64(len(p.scanners)), p.size+16 // no two threads count in one cache line
	grain = max(1, grain, (items+threads-1)/threads)
	next := make([]int, int((items+grain-1)/grain)*stride)
	p.parallel(ctx, items, grain, func(first, last int64) {
		counts := next[int(first/grain)*stride:]
		visit(first, last, func(to int) int {
			counts[to]++
			return -1
		})
	})
	ends, at, total := make([]int, len(next)), make([]int, p.size+1), 0
	for q := range p.size {
		for i := q; i < len(next); i += stride {
			total, next[i] = total+next[i], total
			ends[i] = total
		}
		at[q+1] = total
	}
	send = p.messages(at, size)
	p.parallel(ctx, items, grain, func(first, last int64) {
		next, ends := next[int(first/grain)*stride:], ends[int(first/grain)*stride:]
		visit(first, last, func(to int) int {
			if next[to] == ends[to] { // more than were counted: the parents have changed
				return -1
			}
			next[to]++
			return next[to] - 1
		})
	})
	return send, at
}

// messages makes room in p.out for a message for each part: records at[q]..at[q+1]-1 are for part q.
func (p *Part) messages(at []int, size int) [][]byte {
	p.out = slices.Grow(p.out[:0], at[p.size]*size)[:at[p.size]*size]
	send := make([][]byte, p.size)
	for q := range send {
		send[q] = p.out[at[q]*size : at[q+1]*size]
	}
	return send
}

// overRecords calls work for pieces of messages of records, in parallel; first is the number of a piece's first record
// in the message for or from part q.
func (p *Part) overRecords(
	ctx context.Context, messages [][]byte, size int, work func(q, first int, records []byte)) {
	at := startsOf(messages, size)
	p.parallel(ctx, int64(at[p.size]), p.grain, func(first, last int64) {
		for i := int(first); i < int(last); {
			q := holder(at, i)
			end := min(at[q+1], int(last))
			work(q, i-at[q], messages[q][(i-at[q])*size:(end-at[q])*size])
			i = end
		}
	})
}

// startsOf returns for each message the number of records in those before it, and then that of all records.
func startsOf(messages [][]byte, size int) []int {
	at := make([]int, 1, len(messages)+1)
	for q, m := range messages {
		at = append(at, at[q]+len(m)/size)
	}
	return at
}

// holder returns the q with at[q] <= i < at[q+1].
func holder(at []int, i int) int { return sort.SearchInts(at, i+1) - 1 }
