package rpc

// The engine's side of shared memory. Parents stay mapped until the host releases them, so that only the first of many
// searches pays for mapping them. Tuples are mapped, for reading only, during one Construct.

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

// attachments are the segments that this engine process has mapped, by their IDs.
type attachments struct {
	mu   sync.Mutex
	kept map[uint64]mapping
}

// attached returns the elements that wire names. The caller calls release after using them. A nil wire names none.
func attached[E element](
	a *attachments, wire *enginepb.Segment, kind segmentKind,
) (elements []E, release func(), err error) {
	if wire == nil {
		return []E{}, func() {}, nil
	}
	first, count, total := wire.GetFirst(), wire.GetCount(), wire.GetTotal()
	if first < 0 || count < 0 || total < 0 || first > total || count > total-first || total > kind.maxElements() {
		return nil, nil, fmt.Errorf("rpc: elements %d+%d of %d %s do not exist: %w", first, count, total, kind, ErrSegment)
	}
	size := kind.elementBytes()
	a.mu.Lock()
	defer a.mu.Unlock()
	m, kept := a.kept[wire.GetId()]
	if kept && int64(len(m.bytes)) != total*size {
		return nil, nil, fmt.Errorf("rpc: segment %d has %d bytes, but %d %s were announced: %w",
			wire.GetId(), len(m.bytes), total, kind, ErrSegment)
	}
	if !kept {
		m, err = attach(wire.GetPath(), total*size, kind == parentSegment)
		if err != nil {
			return nil, nil, fmt.Errorf("rpc: map %s in %s: %w: %w", kind, wire.GetPath(), ErrSegment, memoryError(err))
		}
		a.kept[wire.GetId()] = m
	}
	release = func() {}
	if kind == tupleSegment {
		release = func() { a.detach(wire.GetId()) }
	}
	return view[E](m.bytes[first*size : (first+count)*size]), release, nil
}

// detach unmaps a segment. The host asks for it only when no call uses the segment.
func (a *attachments) detach(id uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.kept[id]
	if !ok {
		return
	}
	delete(a.kept, id)
	if err := m.unmap(); err != nil {
		slog.Warn("rpc: unmap shared memory", "error", err)
	}
}

// attach maps a file of the host. Nothing is mapped unless the file is what the host announced.
func attach(path string, size int64, writable bool) (m mapping, err error) {
	if !filepath.IsAbs(path) {
		return mapping{}, errors.New("the path is not absolute")
	}
	mode := os.O_RDONLY
	if writable {
		mode = os.O_RDWR
	}
	file, err := os.OpenFile(path, mode|unix.O_NONBLOCK, 0) // which does not wait if it is a pipe
	if err != nil {
		return mapping{}, fmt.Errorf("open it (host and engine must run as the same user on the same machine): %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return mapping{}, err
	case !info.Mode().IsRegular():
		return mapping{}, fmt.Errorf("it is %v, not memory", info.Mode())
	case info.Size() != size:
		return mapping{}, fmt.Errorf("it has %d bytes instead of %d", info.Size(), size)
	}
	if m, err = mapFile(file, size, writable); err != nil {
		return mapping{}, err
	}
	if err := populate(m.bytes, writable); err != nil {
		return mapping{}, errors.Join(err, m.unmap())
	}
	return m, nil
}
