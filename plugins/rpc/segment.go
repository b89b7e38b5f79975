package rpc

// This file is the layout of a segment: a piece of memory that the host makes, fills and shares with engine processes,
// so that tuples and parents never travel through gRPC. segment_linux.go and segment_file.go make the memory,
// segment_view.go looks at it as Go slices, attach.go is the engine's side.
//
// Layout, in the machine's own byte order, because both sides run on one machine:
//
//	bytes   0..7    magic "tepsseg\n"
//	bytes   8..11   layout version, uint32, 1
//	bytes  12..15   kind, uint32: 1 tuples, 2 parents
//	bytes  16..19   element size in bytes, uint32: 12 tuples, 8 parents
//	bytes  20..23   zero
//	bytes  24..31   number of elements, uint64
//	bytes  32..47   id, 16 random bytes
//	bytes  48..4095 zero
//	bytes  4096...  the elements, without gaps
//
// The header never changes after the segment was shared, and the length never changes at all: on Linux it is sealed,
// because truncating a file that somebody has mapped kills the reader with SIGBUS.

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// ErrSegment says that shared memory could not be made or attached, or is not what it was announced to be.
var ErrSegment = errors.New("unusable shared memory")

const (
	segmentMagic   = "tepsseg\n"
	segmentVersion = 1
	segmentHeader  = 4096 // bytes before the first element
)

// segmentKind is what a segment holds.
type segmentKind uint32

const (
	tupleSegment  segmentKind = 1
	parentSegment segmentKind = 2
)

func (k segmentKind) String() string {
	switch k {
	case tupleSegment:
		return "tuples"
	case parentSegment:
		return "parents"
	}
	return fmt.Sprintf("segmentKind(%d)", uint32(k))
}

// elementBytes is the size of one element of a kind.
func (k segmentKind) elementBytes() int64 {
	if k == tupleSegment {
		return graph.EdgeBytes
	}
	return vertexBytes
}

// most is the largest number of elements whose size in bytes is a number.
func (k segmentKind) most() int64 { return (math.MaxInt64 - segmentHeader) / k.elementBytes() }

// vertexBytes is the size of a graph.Vertex.
const vertexBytes = 8

// segmentID is unique to a segment; a mapping that is kept from an earlier call is found by it.
type segmentID [16]byte

func (id segmentID) String() string { return fmt.Sprintf("%x", id[:4]) }

// segment is a shared mapping of the host.
type segment struct {
	id      segmentID
	kind    segmentKind
	count   int64
	memory  []byte // header and elements
	file    *os.File
	path    string // where an engine opens it
	discard func() error
}

// makeSegment makes a segment of count zero elements, all of its pages present. dir gives the folder for systems
// whose shared memory is a file; it is asked only there.
func makeSegment(kind segmentKind, count int64, dir func() (string, error)) (*segment, error) {
	if count < 0 || count > kind.most() {
		return nil, fmt.Errorf("rpc: a segment of %d %s: the number is out of range: %w", count, kind, ErrSegment)
	}
	s := &segment{kind: kind, count: count}
	rand.Read(s.id[:]) // never fails, see crypto/rand
	size := segmentHeader + count*kind.elementBytes()
	if err := s.back(size, dir); err != nil {
		return nil, fmt.Errorf("rpc: make a segment of %d %s (%d bytes): %w: %w", count, kind, size, ErrSegment, memoryError(err))
	}
	memory, err := mapFile(s.file, size, true, kind == parentSegment)
	if err != nil {
		return nil, fmt.Errorf("rpc: map a segment of %d %s (%d bytes): %w: %w", count, kind, size, ErrSegment,
			errors.Join(memoryError(err), s.discard()))
	}
	s.memory = memory
	copy(memory, s.header())
	return s, nil
}

// header returns the bytes before the elements, as far as they are not zero.
func (s *segment) header() []byte {
	h := make([]byte, 0, 48)
	h = append(h, segmentMagic...)
	h = binary.NativeEndian.AppendUint32(h, segmentVersion)
	h = binary.NativeEndian.AppendUint32(h, uint32(s.kind))
	h = binary.NativeEndian.AppendUint32(h, uint32(s.kind.elementBytes()))
	h = binary.NativeEndian.AppendUint32(h, 0)
	h = binary.NativeEndian.AppendUint64(h, uint64(s.count))
	return append(h, s.id[:]...)
}

// repair puts the header back as it was, and says whether somebody had written to it: it lies before parent[0], where an
// engine's index of -1 leads. Engines to come check the header, and must not suffer for this one.
func (s *segment) repair() (damaged bool) {
	var want [segmentHeader]byte
	copy(want[:], s.header())
	if bytes.Equal(s.memory[:segmentHeader], want[:]) {
		return false
	}
	copy(s.memory, want[:])
	return true
}

// elements are the bytes after the header.
func (s *segment) elements() []byte { return s.memory[segmentHeader:] }

// release unmaps the segment and gives its memory back once no engine has it mapped either.
func (s *segment) release() error {
	err := errors.Join(unmap(s.memory), s.discard())
	s.memory = nil
	if err != nil {
		return fmt.Errorf("rpc: release a segment of %d %s: %w", s.count, s.kind, err)
	}
	return nil
}

// checkHeader compares the header of an attached segment with what the host announced. file is the length of the
// file, memory at least its first page.
func checkHeader(memory []byte, file int64, kind segmentKind, count int64, id segmentID) error {
	want := segment{kind: kind, count: count, id: id}
	h, w := memory[:48], want.header()
	word := func(at int) uint32 { return binary.NativeEndian.Uint32(h[at:]) }
	switch {
	case string(h[:8]) != segmentMagic:
		return fmt.Errorf("it starts with %q, not with %q: %w", h[:8], segmentMagic, ErrSegment)
	case word(8) != segmentVersion:
		return fmt.Errorf("its layout has version %d, this engine knows %d; build both sides from one release: %w", word(8), segmentVersion, ErrSegment)
	case word(12) != uint32(kind):
		return fmt.Errorf("it holds %v, not %v: %w", segmentKind(word(12)), kind, ErrSegment)
	case word(16) != uint32(kind.elementBytes()):
		return fmt.Errorf("its elements have %d bytes, those of %v %d: %w", word(16), kind, kind.elementBytes(), ErrSegment)
	case binary.NativeEndian.Uint64(h[24:]) != uint64(count):
		return fmt.Errorf("it holds %d elements, announced were %d: %w", binary.NativeEndian.Uint64(h[24:]), count, ErrSegment)
	case !bytes.Equal(h[32:48], id[:]):
		return fmt.Errorf("its id is %v, announced was %v: %w", segmentID(h[32:48]), id, ErrSegment)
	case !bytes.Equal(h, w):
		return fmt.Errorf("its header has unknown contents: %w", ErrSegment)
	case file != segmentHeader+count*kind.elementBytes():
		return fmt.Errorf("it is %d bytes long, %d %v need %d: %w", file, count, kind, segmentHeader+count*kind.elementBytes(), ErrSegment)
	}
	return nil
}

// memoryError adds plugins.ErrMemory to an error that says so in the system's words.
func memoryError(err error) error {
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("%w: %w", plugins.ErrMemory, err)
	}
	return err
}

// mapFile maps size bytes of f shared, and makes every page present, so that no page fault falls into a measured
// time. A file that nobody has touched yet can be given huge pages: makeSegment asks for them for parents, which a search
// writes in any order, and not for tuples, which are read from one end to the other and would take the huge pages that
// an engine wants for its graph.
func mapFile(f *os.File, size int64, writable, huge bool) ([]byte, error) {
	protection := unix.PROT_READ
	if writable {
		protection |= unix.PROT_WRITE
	}
	if size > math.MaxInt-guardBytes-2*hugePage {
		return nil, unix.ENOMEM
	}
	memory, err := mapAligned(int(f.Fd()), uintptr(size), protection)
	if err != nil {
		return nil, err
	}
	if huge {
		allocateHuge(memory)
	}
	if err := populate(memory, writable); err != nil {
		return nil, errors.Join(err, unmap(memory))
	}
	return memory, nil
}
