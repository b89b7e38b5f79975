// SPDX-License-Identifier: Apache-2.0

package rpc

// A segment is memory that the host shares with engine processes. It is a file: on Linux a memfd, which has no name and
// disappears with its last user; elsewhere, and where engines cannot open a memfd, a temporary file. A memfd is sealed
// before engines get it: its length, because truncating a mapped file kills the reader with SIGBUS, and tuples and
// weights also against writing, because they are the input of all engines and of validation.

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

type segmentKind string

const (
	tupleSegment    segmentKind = "tuples"
	weightSegment   segmentKind = "weights"
	parentSegment   segmentKind = "parents"
	distanceSegment segmentKind = "distances"
)

func (k segmentKind) elementBytes() int64 {
	switch k {
	case tupleSegment:
		return graph.EdgeBytes
	case parentSegment:
		return vertexBytes
	}
	return floatBytes
}

// isResult says that engines write the segment, in any order.
func (k segmentKind) isResult() bool { return k == parentSegment || k == distanceSegment }

// maxElements is the largest number of elements whose size in bytes is an int64.
func (k segmentKind) maxElements() int64 { return math.MaxInt64 / k.elementBytes() }

type segment struct {
	mapping
	id      uint64
	kind    segmentKind
	count   int64
	path    string       // where an engine opens it
	file    *os.File     // of a reservation until it is trimmed, and of weights until an engine gets them; otherwise nil
	discard func() error // gives the file back
}

// pages is when a segment gets its pages.
type pages bool

const (
	present  pages = true  // at once
	reserved pages = false // when they are first written; the segment may be trimmed
)

func newSegment(id uint64, kind segmentKind, count int64, pages pages) (*segment, error) {
	if count < 0 || count > kind.maxElements() {
		return nil, fmt.Errorf("rpc: make shared memory for %d %s: the number is out of range: %w", count, kind, ErrSegment)
	}
	s := &segment{id: id, kind: kind, count: count}
	if err := s.allocate(count*kind.elementBytes(), pages); err != nil {
		return nil, fmt.Errorf("rpc: %w: %w", ErrSegment, memoryError(err))
	}
	return s, nil
}

func (s *segment) allocate(size int64, pages pages) error {
	f, path, discard, err := openBacking("teps-"+string(s.kind), size)
	if err != nil {
		return err
	}
	s.path, s.discard = path, discard
	if s.mapping, err = mapFile(f, size, true); err != nil {
		return errors.Join(err, discard())
	}
	if pages == reserved || s.kind == weightSegment { // an accelerator may write first
		s.file = f
	} else {
		seal(f, s.kind.isResult())
	}
	if pages == reserved {
		return nil
	}
	// A search writes its results in any order, so they get huge pages. Tuples and weights are read from one end to the
	// other and would take the huge pages that an engine wants for its graph.
	if s.kind.isResult() {
		collapse(s.bytes)
	}
	if err := populate(s.bytes, true); err != nil {
		return errors.Join(err, s.unmap(), discard())
	}
	return nil
}

func (s *segment) trim(count int64) error {
	size := count * s.kind.elementBytes()
	if err := errors.Join(s.shorten(size), s.file.Truncate(size)); err != nil {
		return fmt.Errorf("rpc: trim shared memory to %d %s: %w: %w", count, s.kind, ErrSegment, err)
	}
	seal(s.file, s.kind.isResult())
	s.count, s.file = count, nil
	return nil
}

// release unmaps the segment. Its memory is free once no engine has it mapped either.
func (s *segment) release() error {
	if err := errors.Join(s.unmap(), s.discard()); err != nil {
		return fmt.Errorf("rpc: release %d %s: %w", s.count, s.kind, err)
	}
	return nil
}

func openFile(base string, size int64) (f *os.File, path string, discard func() error, err error) {
	dir, err := child.NewDirIn(base, "teps-mem-")
	if err != nil {
		return nil, "", nil, err
	}
	if f, err = os.Create(filepath.Join(dir.Path(), "segment")); err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, "", nil, errors.Join(err, dir.Remove())
	}
	return f, f.Name(), func() error { return errors.Join(f.Close(), dir.Remove()) }, nil
}

func memoryError(err error) error {
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%w: %w", plugins.ErrMemory, err)
	}
	return err
}

// The engine's side of shared memory. Tuples and weights are mapped, for reading only, during one Construct. Results,
// and tuples that an accelerator writes, stay mapped until a call names others, so that only the first one pays for
// mapping them.

// attach maps the whole segment that wire names, or nothing for an array without elements.
func attach(wire *enginepb.Segment, kind segmentKind, writable bool) (m mapping, err error) {
	if wire.GetPath() == "" {
		return mapping{}, nil
	}
	if total := wire.GetTotal(); total < 0 || total > kind.maxElements() {
		return mapping{}, fmt.Errorf("rpc: %d %s do not exist: %w", total, kind, ErrSegment)
	}
	// An accelerator makes the pages of the tuples that it writes, and huge ones four times as fast.
	huge := writable && kind == tupleSegment
	if m, err = attachFile(wire.GetPath(), wire.GetTotal()*kind.elementBytes(), writable, huge); err != nil {
		err = fmt.Errorf("rpc: map %s in %s: %w: %w", kind, wire.GetPath(), ErrSegment, memoryError(err))
	}
	return m, err
}

// part returns the elements of a mapping that wire describes.
func part[E element](m mapping, wire *enginepb.Segment, kind segmentKind) ([]E, error) {
	first, count, total := wire.GetFirst(), wire.GetCount(), wire.GetTotal()
	all := view[E](m.bytes)
	if total != int64(len(all)) || first < 0 || count < 0 || first > total || count > total-first {
		return nil, fmt.Errorf("rpc: elements %d+%d of %d %s do not exist; %d are mapped: %w",
			first, count, total, kind, len(all), ErrSegment)
	}
	return all[first : first+count], nil
}

// attachFile maps a file of the host. Nothing is mapped unless the file is what the host announced.
func attachFile(path string, size int64, writable, huge bool) (m mapping, err error) {
	if !filepath.IsAbs(path) {
		return mapping{}, errors.New("the path is not absolute")
	}
	mode := os.O_RDONLY
	if writable {
		mode = os.O_RDWR
	}
	file, info, err := regular.Open(path, mode)
	if err != nil {
		return mapping{}, fmt.Errorf("open it (host and engine must run as the same user on the same machine): %w", err)
	}
	defer file.Close()
	if info.Size() != size {
		return mapping{}, fmt.Errorf("it has %d bytes instead of %d", info.Size(), size)
	}
	if m, err = mapFile(file, size, writable); err != nil {
		return mapping{}, err
	}
	if huge {
		collapse(m.bytes)
	}
	if err := populate(m.bytes, writable); err != nil {
		return mapping{}, errors.Join(err, m.unmap())
	}
	return m, nil
}
