package rpc

// The engine's side of shared memory: attaching a segment of the host. Everything that the host announces is compared
// with what is there before an element is touched. A parent segment stays mapped until the host releases it, so that
// only the first of many searches pays for attaching it; tuples are mapped for one Construct.

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// attachments are the segments that this engine process has mapped.
type attachments struct {
	mu   sync.Mutex
	kept map[segmentID]*attachment
}

type attachment struct {
	kind   segmentKind
	total  int64
	memory []byte // with header
	used   bool   // by a running call
	gone   bool   // released by the host while used
}

// attached returns the elements that wire names; release ends their use. No wire means no elements.
func attached[E element](a *attachments, wire *enginepb.Segment, kind segmentKind) (elements []E, release func(), err error) {
	if wire == nil {
		return []E{}, func() {}, nil
	}
	first, count, total := wire.GetFirst(), wire.GetCount(), wire.GetTotal()
	if first < 0 || count < 0 || total < 0 || first > total || count > total-first || total > kind.most() {
		return nil, nil, fmt.Errorf("rpc: elements %d+%d of a segment of %d %s: %w", first, count, total, kind, ErrSegment)
	}
	if len(wire.GetId()) != len(segmentID{}) {
		return nil, nil, fmt.Errorf("rpc: a segment id of %d bytes, want %d: %w", len(wire.GetId()), len(segmentID{}), ErrSegment)
	}
	at, err := a.use(segmentID(wire.GetId()), wire.GetPath(), kind, total)
	if err != nil {
		return nil, nil, fmt.Errorf("rpc: attach %s in %s: %w", kind, wire.GetPath(), err)
	}
	size := kind.elementBytes()
	bytes := at.memory[segmentHeader+first*size : segmentHeader+(first+count)*size]
	return view[E](bytes), func() { a.unuse(segmentID(wire.GetId()), at) }, nil
}

// use finds or makes an attachment and marks it used.
func (a *attachments) use(id segmentID, path string, kind segmentKind, total int64) (*attachment, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.kept[id]; ok {
		if at.kind != kind || at.total != total {
			return nil, fmt.Errorf("it is attached as %d %s, announced were %d: %w", at.total, at.kind, total, ErrSegment)
		}
		at.used = true
		return at, nil
	}
	memory, err := attach(id, path, kind, total)
	if err != nil {
		return nil, err
	}
	at := &attachment{kind: kind, total: total, memory: memory, used: true}
	a.kept[id] = at
	return at, nil
}

func (a *attachments) unuse(id segmentID, at *attachment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at.used = false
	if at.gone || at.kind == tupleSegment {
		a.unmap(id, at)
	}
}

// detach forgets a segment that the host has released, after the call that uses it, if there is one.
func (a *attachments) detach(id segmentID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.kept[id]
	switch {
	case !ok:
	case at.used:
		at.gone = true
	default:
		a.unmap(id, at)
	}
}

func (a *attachments) unmap(id segmentID, at *attachment) {
	delete(a.kept, id)
	if err := unmap(at.memory); err != nil {
		slog.Warn("rpc: unmap a segment", "kind", at.kind, "error", err)
	}
}

// attach maps a segment of the host, tuples for reading only. The header is read before anything is mapped.
func attach(id segmentID, path string, kind segmentKind, total int64) (memory []byte, err error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the path is not absolute: %w", ErrSegment)
	}
	writable := kind == parentSegment
	mode := os.O_RDONLY
	if writable {
		mode = os.O_RDWR
	}
	file, err := os.OpenFile(path, mode|unix.O_NONBLOCK, 0) // no wait, should it be a pipe
	if err != nil {
		return nil, fmt.Errorf("open it (host and engine must run as the same user, on one machine): %w: %w", ErrSegment, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at it: %w: %w", ErrSegment, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is %v, not memory: %w", info.Mode(), ErrSegment)
	}
	if info.Size() < segmentHeader {
		return nil, fmt.Errorf("it is %d bytes long, shorter than its header: %w", info.Size(), ErrSegment)
	}
	header := make([]byte, segmentHeader)
	if _, err := file.ReadAt(header, 0); err != nil {
		return nil, fmt.Errorf("read its header: %w: %w", ErrSegment, err)
	}
	if err := checkHeader(header, info.Size(), kind, total, id); err != nil {
		return nil, err
	}
	if err := checkSeals(file); err != nil {
		return nil, err
	}
	memory, err = mapFile(file, info.Size(), writable, false)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w: %w", info.Size(), ErrSegment, memoryError(err))
	}
	return memory, nil
}
