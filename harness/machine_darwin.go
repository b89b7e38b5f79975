package harness

import (
	"context"

	"golang.org/x/sys/unix"
)

// ask fills in what macOS tells through sysctl; it has no governor, NUMA nodes or setting of huge pages to tell of.
func (m *Machine) ask(context.Context) {
	m.CPU, _ = unix.Sysctl("machdep.cpu.brand_string")
	m.Kernel, _ = unix.Sysctl("kern.osrelease")
	if version, err := unix.Sysctl("kern.osproductversion"); err == nil {
		m.OS = "macOS " + version + " (" + m.OS + ")"
	}
	if n, err := unix.SysctlUint32("hw.packages"); err == nil {
		m.Sockets = int(n)
	}
	if n, err := unix.SysctlUint32("hw.physicalcpu"); err == nil {
		m.Cores = int(n)
	}
	if n, err := unix.SysctlUint32("kern.hv_vmm_present"); err == nil && n != 0 {
		m.Virtual = "hypervisor flag set"
	}
}
