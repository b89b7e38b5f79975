package rpc

// The engine's side of shared memory. Tuples are mapped, for reading only, during one Construct. Parents stay mapped
// until a call names others, so that only the first of many searches pays for mapping them. So do tuples that an
// accelerator writes.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// attach maps the whole segment that wire names; nothing if wire is nil.
func attach(wire *enginepb.Segment, kind segmentKind, writable bool) (m mapping, err error) {
	if wire == nil {
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

// part returns the elements of a mapping that wire names.
func part[E element](m mapping, wire *enginepb.Segment, kind segmentKind) ([]E, error) {
	first, count, total := wire.GetFirst(), wire.GetCount(), wire.GetTotal()
	all := view[E](m.bytes)
	if total != int64(len(all)) || first < 0 || count < 0 || first > total || count > total-first {
		return nil, fmt.Errorf("rpc: elements %d+%d of %d %s do not exist, where %d are mapped: %w",
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
