// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/tepsbench/teps/power"
)

// server returns the meters of a server with twelve zones (four packages with memory and cores) and eight GPUs.
func server(b *testing.B) []power.Meter {
	b.Helper()
	m := emptyMachine(b)
	for p := range 4 {
		for i, name := range []string{fmt.Sprintf("package-%d", p), "dram", "core"} {
			zone := fmt.Sprintf("sys/class/powercap/intel-rapl:%d", p)
			if i > 0 {
				zone += fmt.Sprintf(":%d", i-1)
			}
			m.write(zone+"/name", name+"\n")
			m.write(zone+"/energy_uj", "123456789012\n")
			m.write(zone+"/max_energy_range_uj", "262143328850\n")
		}
	}
	zones, err := m.open(raplSource())
	f := &fakeNVML{}
	for range 8 {
		f.gpus = append(f.gpus, fakeGPU{millijoules: 1 << 40})
	}
	gpus, _ := openNVML(f.nvml())
	meters := append(zones, gpus...)
	if len(meters) != 16 {
		b.Fatalf("got %d meters, %v, want 16", len(meters), err)
	}
	return meters
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSampling records for a second in each iteration, and reports the part of one core that this takes:
// reading, timers, goroutines and the garbage collector.
func BenchmarkSampling(b *testing.B) {
	meters := server(b)
	var used, passed time.Duration
	for b.Loop() {
		begin, cpu := time.Now(), processorTime()
		r := power.Record(b.Context(), meters)
		time.Sleep(time.Second)
		r.Stop()
		passed, used = passed+time.Since(begin), used+processorTime()-cpu
	}
	b.ReportMetric(100*used.Seconds()/passed.Seconds(), "%core")
	b.ReportMetric(0, "ns/op")
}
