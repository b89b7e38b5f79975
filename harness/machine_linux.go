package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/shirou/gopsutil/v3/common"
	"github.com/shirou/gopsutil/v3/host"
)

// ask fills in what Linux tells.
func (m *Machine) ask(ctx context.Context) { m.askUnder(ctx, "/proc", "/sys", "/etc") }

// askUnder is ask with the system's folders mounted elsewhere.
func (m *Machine) askUnder(ctx context.Context, proc, sys, etc string) {
	ctx = context.WithValue(ctx, common.EnvKey, common.EnvMap{
		common.HostProcEnvKey: proc, common.HostSysEnvKey: sys, common.HostEtcEnvKey: etc,
	})
	if name, _, version, err := host.PlatformInformationWithContext(ctx); err == nil && name != "" {
		m.OS = fmt.Sprintf("%s (%s)", strings.TrimSpace(name+" "+version), m.OS)
	}
	m.Kernel, _ = host.KernelVersionWithContext(ctx)

	first, tree := readProcessor(proc), sysfs(sys)
	m.CPU = first.name()
	m.ClockMHz = tree.largestClock()
	if m.ClockMHz == 0 {
		m.ClockMHz = first.clock()
	}
	m.Clocks = tree.clocks(proc)
	m.SMT = tree.line("devices/system/cpu/smt/control")
	m.Microcode = first["microcode"]
	m.Sockets = tree.sockets()
	m.Cores = tree.cores()
	m.CacheBytes = tree.lastLevelCache()
	m.Governor = tree.governor()
	m.NUMANodes = tree.numaNodes()
	m.NUMA = tree.numa()
	m.Balancing = balancing(proc)
	m.Modules = tree.modules()
	m.GPUs = tree.gpus(proc)
	m.HugePages = tree.hugePages()
	m.Virtual = tree.hypervisor(first.flagged("hypervisor"))
}
