package power

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// dozen is a server with twelve zones (four packages with memory and cores) and eight GPUs.
func dozen(tb testing.TB) []Meter {
	m := machine{tb, tb.TempDir()}
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
	zones, absences := findRAPL(m.tree())
	f := &fakeNVML{}
	for range 8 {
		f.gpus = append(f.gpus, &fakeGPU{millijoules: 1 << 40})
	}
	gpus, _ := findNVML(f.open)
	meters := append(zones, gpus...)
	if len(meters) != 20 {
		tb.Fatalf("%d meters: %s", len(meters), reasons(absences))
	}
	tb.Cleanup(func() { _ = Close(meters) })
	return meters
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSampling records for a second in each iteration, and reports what part of one core that took, all in: reading,
// timers, goroutines, the collector.
func BenchmarkSampling(b *testing.B) {
	meters := dozen(b)
	var used, passed time.Duration
	for b.Loop() {
		begin, cpu := time.Now(), processorTime()
		r := Record(b.Context(), meters, DefaultInterval)
		time.Sleep(time.Second)
		r.Stop()
		passed, used = passed+time.Since(begin), used+processorTime()-cpu
	}
	b.ReportMetric(100*used.Seconds()/passed.Seconds(), "%core")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPass reads all meters once: the part of sampling that grows with them.
func BenchmarkPass(b *testing.B) {
	meters := dozen(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, m := range meters {
			if _, err := m.Read(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/float64(b.N)/DefaultInterval.Seconds(), "%core")
}

// BenchmarkEnergy integrates ten minutes of a counter.
func BenchmarkEnergy(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	c := randomCurve(r, 600, 1)
	s := record(r, Info{Quantity: Energy, Period: nvmlPeriod}, sampling{interval: 0.01}, 600, steps(r, c, 600, 0.1, 1e-3))
	for b.Loop() {
		if _, err := s.Energy(moment(10), moment(590)); err != nil {
			b.Fatal(err)
		}
	}
}
