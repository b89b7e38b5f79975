// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
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
	for asked, other := range map[string]string{"GPU-A": "GPU-b", "": ""} {
		inBubble(t, func(t *testing.T) {
			meter := counter("a GPU", power.GPU, 100)
			meter.info.Device, meter.info.Asked, meter.info.ScopeStated = asked, true, asked == "" // one for all by the user
			engine := &looping{serial: &serial{build: func(c *plugins.Construction) error {
				c.Details = []plugins.Fact{{Name: plugins.DeviceUUID, Value: "GPU-a"}, {Name: plugins.DeviceUUID, Value: "GPU-b"}}
				return nil
			}}}
			r, _ := must.Get2(runs(t, t.Context(), metering(engine, meter), energyPlan(loopTime)))
			e, lost := r.Runs[0].Energy, ""
			for _, l := range e.Lost() {
				lost += l.Source
			}
			if lost != other || e.Failed() != (other != "") || !strings.Contains(e.Failure, other) {
				t.Errorf("%q is metered: lost %q, %q; want %q", asked, lost, e.Failure, other)
			}
		})
	}
}
