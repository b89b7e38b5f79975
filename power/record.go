package power

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// DefaultInterval is the time between two readings of a meter that is a register or a file: less than the steps of a GPU's
// counter (100 ms), so that each is seen, and enough to keep sampling below one per cent of a core, most of which is waking up
// (BenchmarkSampling). The energy of a loop gains nothing from more: only its two ends are interpolated.
const DefaultInterval = 50 * time.Millisecond

const (
	// readLimit is how long a read may take before its meter is left alone until the read comes back.
	readLimit = 2 * time.Second
	// before is how old a reading may be, when a recording begins, and still belong to it.
	before = 5 * time.Second
	// share is the part of one core that reading registers may take. Where reads cost more, they come less often, down to one in
	// longestRest: the two ends of a loop are only known as well as that. Where the system does not tell what they cost, they may
	// take blindShare of the time, all of which may have gone by waiting: NVML took 4 to 5 ms a read on an H200 in a virtual machine.
	share       = 0.01
	blindShare  = 0.1
	longestRest = 250 * time.Millisecond
	// mostFaults bounds the faults of a series that differ in their texts.
	mostFaults = 16
)

// Paced is a meter that is slow to read, or of which it makes no sense to ask more often. It is read by a goroutine of its
// own.
type Paced interface {
	Meter
	Pace() time.Duration // the least time between two reads
}

// A Recorder reads meters over and over until it is stopped.
type Recorder struct {
	ctx    context.Context
	cancel context.CancelFunc
	tracks []*track
	lanes  []*lane
	stop   chan struct{} // closed: read once more and end
	once   sync.Once
	done   []Series
	guard  sync.WaitGroup
}

// Record begins to read the meters, each every interval (zero: DefaultInterval) or as often as it can be read. A meter that
// hangs does not hold up the others. The meters stay open when the recorder stops, and can be recorded again.
//
// Energy needs updates on both sides of an interval: record for Margin(meters) before and after what is to be measured.
func Record(ctx context.Context, meters []Meter, interval time.Duration) *Recorder {
	return recordBy(ctx, meters, interval, threadTime)
}

// recordBy is Record with another clock of the time that the calling thread had on a processor.
func recordBy(ctx context.Context, meters []Meter, interval time.Duration, processor func() (time.Duration, bool)) *Recorder {
	if interval <= 0 {
		interval = DefaultInterval
	}
	r := &Recorder{stop: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(ctx)
	together := &lane{pace: interval, processor: processor, over: make(chan struct{})}
	for _, m := range meters {
		t := &track{meter: m, series: Series{Info: m.Info()}, since: time.Now().Add(-before)}
		r.tracks = append(r.tracks, t)
		if p, ok := m.(Paced); ok && p.Pace() > 0 {
			r.lanes = append(r.lanes, &lane{tracks: []*track{t}, pace: max(interval, p.Pace()), over: make(chan struct{})})
		} else {
			together.tracks = append(together.tracks, t)
		}
	}
	if len(together.tracks) > 0 {
		r.lanes = append(r.lanes, together)
	}
	for _, l := range r.lanes {
		go l.run(r.ctx, r.stop, 0)
	}
	r.guard.Go(r.watch)
	return r
}

// Stop reads every meter once more and returns what was recorded, in the order in which the meters were given.
func (r *Recorder) Stop() []Series {
	r.once.Do(func() {
		close(r.stop)
		for _, l := range r.lanes {
			select {
			case <-l.over:
			case <-time.After(readLimit + readLimit/2): // the watch hands a lane on that hangs, and it ends then
			}
		}
		r.cancel()
		r.guard.Wait()
		for _, t := range r.tracks {
			r.done = append(r.done, t.finish())
		}
	})
	return r.done
}

// watch looks after reads that do not come back.
func (r *Recorder) watch() {
	tick := time.NewTicker(readLimit / 4)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
			for _, l := range r.lanes {
				if turn, hangs := l.handOn(); hangs {
					go l.run(r.ctx, r.stop, turn)
				}
			}
		}
	}
}

// A lane is meters that are read one after the other, by one goroutine. When a read hangs, another goroutine takes the lane
// over, without the meter that hangs: the lane's turn goes up, and whoever comes back and finds it changed ends.
type lane struct {
	pace time.Duration
	// processor is the clock of what reads cost, and makes a lane slower whose reads cost much; nil: they keep their pace.
	processor func() (time.Duration, bool)
	over      chan struct{} // closed when nothing is read any more

	mu      sync.Mutex
	tracks  []*track
	turn    int
	reading *track
	began   time.Time
}

func (l *lane) run(ctx context.Context, stop <-chan struct{}, turn int) {
	tick := time.NewTicker(l.pace)
	defer tick.Stop()
	resting := false
	for last := false; ; {
		rest, over, mine := l.pass(ctx, turn)
		if !mine {
			return // the next turn ends the lane
		}
		last = last || over
		if last {
			close(l.over)
			return
		}
		if rest > l.pace {
			tick.Reset(rest) // from now on, not from the last tick: a pass may take longer than that
			resting = true
		} else if resting {
			tick.Reset(l.pace)
			resting = false
		}
		select {
		case <-ctx.Done():
			last = true
		case <-stop:
			last = true
		case <-tick.C:
		}
	}
}

// pass reads every meter of a lane once. rest is how long the reads have to be left alone then; over says that the context
// has ended, and mine that the lane was not handed on meanwhile.
func (l *lane) pass(ctx context.Context, turn int) (rest time.Duration, over, mine bool) {
	begin := time.Now()
	spent, known := time.Duration(0), false
	if l.processor != nil {
		runtime.LockOSThread() // whose clock it is
		defer runtime.UnlockOSThread()
		spent, known = l.processor()
	}
	first := spent
	for _, t := range l.tracks {
		if ctx.Err() != nil {
			return 0, true, true
		}
		if !l.read(ctx, t, turn) {
			return 0, false, false
		}
		if known {
			now, _ := l.processor()
			t.cost(now - spent)
			spent = now
		}
	}
	switch {
	case l.processor == nil:
		return 0, false, true
	case known:
		rest = time.Duration(float64(spent-first) * (1/share - 1))
	default:
		rest = time.Duration(float64(time.Since(begin)) * (1/blindShare - 1))
	}
	return min(rest, longestRest), false, true
}

// read reads one meter. It says false when the lane was handed on meanwhile.
func (l *lane) read(ctx context.Context, t *track, turn int) bool {
	if t.skip() {
		return true
	}
	begin := time.Now()
	l.mu.Lock()
	l.reading, l.began = t, begin
	l.mu.Unlock()
	if _, slow := t.meter.(Paced); slow {
		limited, cancel := context.WithTimeout(ctx, readLimit)
		defer cancel()
		ctx = limited
	}
	readings, err := t.meter.Read(ctx)
	t.add(readings, err, time.Since(begin))

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn != turn {
		return false
	}
	l.reading = nil
	return true
}

// handOn looks whether a read has hung for too long, and gives the lane to the next turn then.
func (l *lane) handOn() (turn int, hangs bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading == nil || time.Since(l.began) < readLimit {
		return 0, false
	}
	l.reading.hang()
	l.reading = nil
	l.turn++
	return l.turn, true
}

// A track is a meter and what it showed so far.
type track struct {
	meter Meter
	since time.Time // older readings are none of this recording

	mu                      sync.Mutex
	series                  Series
	gone, hung, broken, end bool
}

func (t *track) skip() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone || t.hung
}

func (t *track) hang() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hung = true
	t.fault("a read did not come back within "+readLimit.String(), 1)
}

// cost adds what a read took of a processor.
func (t *track) cost(spent time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.end {
		t.series.ProcessorTime += spent
	}
}

func (t *track) add(readings []Reading, err error, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end {
		return
	}
	t.hung = false
	t.series.ReadTime += took
	if errors.Is(err, ErrBreak) {
		if len(t.series.Samples) == 0 {
			err = nil // what passed before the recording is none of its business
		} else {
			t.broken = true
		}
	}
	for _, r := range readings {
		t.append(r)
	}
	if err == nil || t.gone {
		return
	}
	t.gone = errors.Is(err, ErrGone)
	if !errors.Is(err, context.Canceled) {
		times := 1
		if r := (*repeated)(nil); errors.As(err, &r) {
			times = r.times
		}
		t.fault(err.Error(), times)
	}
}

// append adds a reading. Of a counter that shows the same value for a while, only the first and the last sample stay.
func (t *track) append(r Reading) {
	if r.Time.Before(t.since) {
		return
	}
	s := Sample{Time: r.Time, Value: r.Value, Window: r.Window}
	n := len(t.series.Samples)
	if n > 0 && !r.Time.After(t.series.Samples[n-1].Time) {
		t.fault("a reading that is not later than the one before was left out", 1)
		return
	}
	s.Break, t.broken = t.broken && n > 0, false
	if t.series.Info.Quantity == Energy && n > 1 && !s.Break && !t.series.Samples[n-1].Break &&
		s.Value == t.series.Samples[n-1].Value && s.Value == t.series.Samples[n-2].Value {
		t.series.Samples[n-1] = s
		return
	}
	t.series.Samples = append(t.series.Samples, s)
}

// fault notes what went wrong, and how often; t.mu is held.
func (t *track) fault(text string, times int) {
	faults := t.series.Faults
	for i := range faults {
		if faults[i].Text == text {
			faults[i].Count += times
			return
		}
	}
	if len(faults) == mostFaults-1 {
		text = "more faults, of other kinds"
	}
	if len(faults) == mostFaults {
		faults[mostFaults-1].Count += times
		return
	}
	t.series.Faults = append(faults, Fault{Time: time.Now(), Text: text, Count: times})
}

func (t *track) finish() Series {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = true
	t.series.Period = observedPeriod(t.series.Info.Quantity, t.series.Samples)
	return t.series
}

// Margin is how long before and after an interval meters should be recorded so that its ends lie between updates: two
// periods of the slowest, and two of the longest times between two reads, at most ten seconds in all. A meter that does not say
// its period is taken for one that updates every second.
func Margin(meters []Meter) time.Duration {
	longest := DefaultInterval
	for _, m := range meters {
		period := m.Info().Period
		if period == 0 {
			period = time.Second
		}
		if p, ok := m.(Paced); ok {
			period = max(period, p.Pace())
		}
		longest = max(longest, period)
	}
	return min(2*longest+2*longestRest, 10*time.Second)
}
