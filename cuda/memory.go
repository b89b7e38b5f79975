//go:build cuda

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/plugins"
)

// memory owns every array of a graph, on the device and pinned in the host, and keeps to a limit on the device.
type memory struct {
	limit  int64 // bytes on the device
	used   int64
	held   map[uint64]block // by device address
	inHost int64            // bytes pinned
}

type block struct {
	bytes int64
	host  pinned // where it lies in the host
}

// newMemory measures what is free and takes limit of it; 0 takes all but a reserve for the driver.
func newMemory(limit int64) (*memory, error) {
	free, _, err := cu.MemInfo()
	if err != nil {
		return nil, fmt.Errorf("cuda: ask for free memory: %w", err)
	}
	free -= driverReserve
	if limit == 0 || limit > free {
		limit = free
	}
	return &memory{limit: limit, held: make(map[uint64]block)}, nil
}

const driverReserve = 512 << 20 // for device-side launches and the stacks of kernels

// room returns how many bytes are left.
func (m *memory) room() int64 { return m.limit - m.used }

// array allocates on the device.
func (m *memory) array(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, 256)
	if bytes > m.room() {
		return 0, fmt.Errorf("cuda: %s: %d MiB wanted on the device, %d of %d MiB left: %w; raise the option %s, or set %s=host",
			what, bytes>>20, max(m.room(), 0)>>20, m.limit>>20, plugins.ErrMemory, optionMemory, optionLists)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("cuda: %s: %d MiB on the device: %w: %w", what, bytes>>20, plugins.ErrMemory, err)
	}
	m.held[uint64(at)] = block{bytes: bytes}
	m.used += bytes
	return uint64(at), nil
}

// hostArray allocates pinned memory in the host, which kernels reach over the bus.
func (m *memory) hostArray(what string, bytes int64) (uint64, error) {
	bytes = max(bytes, 256)
	p, err := allocatePinned(bytes)
	if err != nil {
		return 0, fmt.Errorf("cuda: %s: %d MiB pinned in the host: %w: %w", what, bytes>>20, plugins.ErrMemory, err)
	}
	m.held[p.device] = block{bytes: bytes, host: p}
	m.inHost += bytes
	return p.device, nil
}

// release gives an array back and forgets its address.
func (m *memory) release(at *uint64) error {
	b, ok := m.held[*at]
	if !ok {
		return nil
	}
	delete(m.held, *at)
	if b.host.host != nil {
		m.inHost -= b.bytes
		err := b.host.free()
		*at = 0
		return err
	}
	m.used -= b.bytes
	err := cu.MemFree(cu.DevicePtr(*at))
	*at = 0
	return err
}

func (m *memory) releaseAll() error {
	var all []error
	for at := range m.held {
		all = append(all, m.release(&at))
	}
	return errors.Join(all...)
}
