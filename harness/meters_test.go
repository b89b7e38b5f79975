// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

func TestMetersOfGPUsMatchTheEngine(t *testing.T) {
	uuid := func(id string) []plugins.Fact {
		return []plugins.Fact{{Name: "clock", Value: "1 GHz"}, {Name: plugins.DeviceUUID, Value: id}}
	}
	both := []plugins.Device{{Kind: "gpu", Details: uuid("GPU-a")}, {Kind: "gpu", Details: uuid("GPU-b")}}
	gpu := func(device string) power.Info {
		return power.Info{Name: "nvml:" + device, Source: "nvml", Scope: power.GPU, Device: device}
	}
	for _, c := range []struct {
		devices []plugins.Device
		built   []plugins.Fact
		meter   power.Info
		used    bool
		why     string
	}{
		{both, uuid("GPU-b"), gpu("GPU-b"), true, ""},
		{both, uuid("GPU-b"), gpu("GPU-a"), false, "another GPU"},
		{both, nil, gpu("GPU-a"), true, ""},
		{both, nil, gpu("GPU-c"), false, "another GPU"},
		{nil, uuid("gpu-A"), gpu("GPU-a"), true, ""},
		{[]plugins.Device{{Kind: "cpu"}}, nil, gpu("GPU-a"), false, "does not report the GPU"},
		{both, nil, gpu(""), false, "does not report which GPU"},
		{nil, nil, power.Info{Name: "x", Source: "command", Scope: power.GPU, ScopeStated: true}, true, ""},
		{nil, nil, power.Info{Name: "package", Source: "rapl", Scope: power.Package}, true, ""},
	} {
		r := engineRun{description: plugins.Description{Devices: c.devices}, built: plugins.Construction{Details: c.built}}
		if used, why := r.uses(c.meter); used != c.used || !strings.Contains(why, c.why) {
			t.Errorf("%s: used %v, %q", c.meter.Name, used, why)
		}
	}
}

func TestGPUsWithoutAMeterAreLost(t *testing.T) {
	r := engineRun{built: plugins.Construction{Details: []plugins.Fact{
		{Name: plugins.DeviceUUID, Value: "GPU-a"}, {Name: plugins.DeviceUUID, Value: "GPU-b"},
	}}}
	meter := counter("nvml:GPU-a", power.GPU, 100)
	meter.info.Device, meter.info.Asked = "GPU-A", true
	lost := r.unmetered([]power.Info{meter.info, counter("socket", power.Package, 70).info})
	if len(lost) != 1 || lost[0].Source != "GPU-b" || lost[0].Scope != power.GPU || !lost[0].Asked {
		t.Errorf("got %+v, want GPU-b", lost)
	}
	stated := counter("command:gpu", power.GPU, 100)
	stated.info.ScopeStated = true
	if lost := r.unmetered([]power.Info{stated.info}); lost != nil {
		t.Errorf("a meter of the user: got %+v", lost)
	}
}
