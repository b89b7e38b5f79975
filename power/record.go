// SPDX-License-Identifier: Apache-2.0

package power

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Interval is the time between two readings of a meter: shorter than the 100 ms between the updates of a GPU's counter,
// so every update is seen. Sampling takes less than one percent of a core (BenchmarkSampling).
const Interval = 50 * time.Millisecond

const (
	readLimit = 2 * time.Second         // when reads are asked to end
	hangLimit = readLimit + readLimit/4 // after which Stop no longer waits for them
	maxFaults = 16                      // distinct faults of a series
)

const hangs = "a read did not return within 2.5s" // the fault of a read that takes longer than hangLimit

// A Recorder reads meters repeatedly until it is stopped.
type Recorder struct {
	tracks  []*track // in the order of the meters
	cancel  context.CancelFunc
	stopped chan struct{} // closed by Stop
	ended   chan struct{} // closed after the last reads
	mu      sync.Mutex    // guards the tracks
}

type track struct {
	meter   Meter
	series  Series
	reading bool // a read is in progress
	gone    bool
	broken  bool // a reading after a break was dropped
}

// Record starts reading meters, each every Interval or at its own interval. The meters of a source are read one after
// the other, so one that hangs delays only its own source. The meters stay open when the recorder stops.
func Record(ctx context.Context, meters []Meter) *Recorder {
	r := &Recorder{stopped: make(chan struct{}), ended: make(chan struct{})}
	ctx, r.cancel = context.WithCancel(ctx)
	sources, intervals := map[string][]*track{}, map[string]time.Duration{}
	for _, m := range meters {
		info := m.Info()
		t := &track{meter: m, series: Series{Info: info}}
		r.tracks = append(r.tracks, t)
		sources[info.Source] = append(sources[info.Source], t)
		intervals[info.Source] = max(Interval, info.MinInterval, intervals[info.Source])
	}
	var running sync.WaitGroup
	for name, tracks := range sources {
		running.Go(func() { r.run(ctx, tracks, intervals[name]) })
	}
	go func() {
		running.Wait()
		close(r.ended)
	}()
	return r
}

// Stop reads every meter once more and returns the recordings, in the order of the meters. Call it once.
func (r *Recorder) Stop() []Series {
	close(r.stopped)
	select {
	case <-r.ended:
	case <-time.After(hangLimit):
	}
	r.cancel()
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Series, len(r.tracks))
	for i, t := range r.tracks {
		if t.reading {
			t.fault(hangs)
		}
		t.gone = true // ignores the results of later reads
		t.series.Period = observedPeriod(t.series.Info.Quantity, t.series.Readings)
		all[i] = t.series
	}
	return all
}

// Margin is how long meters should be recorded before and after an interval so that both its ends lie between updates
// of every meter: two periods of the slowest one. Meters of unknown period are taken to be updated every second.
func Margin(meters []Info) time.Duration {
	slowest := Interval
	for _, info := range meters {
		if info.Period == 0 {
			info.Period = time.Second
		}
		slowest = max(slowest, info.Period, info.MinInterval)
	}
	return min(2*slowest+readLimit/4, 10*time.Second)
}

// run reads the meters of a source until the recorder is stopped, and then once more.
func (r *Recorder) run(ctx context.Context, tracks []*track, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for last := false; ; {
		for _, t := range tracks {
			r.read(ctx, t)
		}
		if last || ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-r.stopped:
			last = true
		case <-ticker.C:
		}
	}
}

func (r *Recorder) read(ctx context.Context, t *track) {
	r.mu.Lock()
	t.reading = !t.gone && ctx.Err() == nil
	r.mu.Unlock()
	if !t.reading {
		return
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, readLimit)
	readings, err := t.meter.Read(limited)
	cancel()
	took := time.Since(begin)

	r.mu.Lock()
	defer r.mu.Unlock()
	t.reading = false
	if t.gone { // Stop did not wait for this read
		return
	}
	t.series.ReadTime += took
	for _, reading := range readings {
		t.append(reading)
	}
	if took > hangLimit {
		t.fault(hangs)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.fault(err.Error())
	}
	t.gone = errors.Is(err, ErrGone)
}

func (t *track) append(r Reading) {
	n := len(t.series.Readings)
	if n > 0 && !r.Time.After(t.series.Readings[n-1].Time) {
		t.broken = t.broken || r.Break
		t.fault("a reading was dropped because it is not later than the one before")
		return
	}
	r.Break = (r.Break || t.broken) && n > 0
	t.broken = false
	t.series.Readings = append(t.series.Readings, r)
}

// fault counts a fault. It keeps the first maxFaults distinct ones.
func (t *track) fault(text string) {
	i := slices.IndexFunc(t.series.Faults, func(f Fault) bool { return f.Text == text })
	switch {
	case i >= 0:
		t.series.Faults[i].Count++
	case len(t.series.Faults) < maxFaults:
		t.series.Faults = append(t.series.Faults, Fault{Text: text, Count: 1})
	}
}
