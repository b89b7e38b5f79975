package harness

import (
	"cmp"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
)

// MemoryModules are the modules of main memory of one kind, as the firmware lists them. Only root can read the list.
type MemoryModules struct {
	Count        int    `json:"count"`
	Bytes        int64  `json:"bytes"`                   // of one module
	Kind         string `json:"kind,omitempty"`          // DDR4, DDR5, HBM3
	MegaTransfer int    `json:"mega_transfer,omitempty"` // 10^6 transfers a second, as configured
}

// modules reads the SMBIOS structures of type 17 (DMTF DSP0134 3.7, section 7.18 "Memory Device").
func (s sysfs) modules() (all []MemoryModules) {
	counts := map[MemoryModules]int{}
	for _, name := range s.files("firmware/dmi/entries/17-*/raw") {
		raw, err := os.ReadFile(filepath.Join(string(s), name))
		if err != nil || len(raw) < 0x22 {
			continue
		}
		if m := module(raw); m.Bytes > 0 { // an empty slot has none
			counts[m]++
		}
	}
	for m, n := range counts {
		m.Count = n
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b MemoryModules) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.MegaTransfer, b.MegaTransfer))
	})
	return all
}

func module(raw []byte) (m MemoryModules) {
	const unknown, extended = 0xffff, 0x7fff
	switch size := binary.LittleEndian.Uint16(raw[0x0c:]); {
	case size == unknown:
	case size == extended:
		m.Bytes = int64(binary.LittleEndian.Uint32(append(raw, 0, 0, 0, 0)[0x1c:])&0x7fffffff) << 20
	case size&0x8000 != 0:
		m.Bytes = int64(size&0x7fff) << 10
	default:
		m.Bytes = int64(size) << 20
	}
	m.Kind = map[byte]string{
		0x18: "DDR3", 0x1a: "DDR4", 0x1d: "LPDDR3", 0x1e: "LPDDR4", 0x20: "HBM", 0x21: "HBM2", 0x22: "DDR5", 0x23: "LPDDR5", 0x24: "HBM3",
	}[raw[0x12]]
	if speed := binary.LittleEndian.Uint16(raw[0x20:]); speed != unknown {
		m.MegaTransfer = int(speed)
	}
	return m
}
