package power

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesAreUnderstood(t *testing.T) {
	at := time.Date(2025, 11, 20, 16, 0, 0, 250_000_000, time.UTC)
	for text, want := range map[string]line{
		"1763654400.25,412.5":                     {at: at, watts: 412.5},
		"1763654400250,412.5":                     {at: at, watts: 412.5},
		"1763654400250000,412.5":                  {at: at, watts: 412.5},
		"1763654400250000000 , 412.5 ":            {at: at, watts: 412.5},
		"2025-11-20T16:00:00.25Z,412.5":           {at: at, watts: 412.5},
		"2025-11-20T17:00:00.25+01:00,412.5,99.5": {at: at, watts: 412.5, joules: 99.5, hasJoules: true},
		",0":                      {},
		"1763654400.25,412.5,1e9": {at: at, watts: 412.5, joules: 1e9, hasJoules: true},
	} {
		got, err := parseLine(text)
		off := got.at.Sub(want.at)
		got.at, want.at = time.Time{}, time.Time{}
		if err != nil || off.Abs() > time.Microsecond || got != want {
			t.Errorf("%q: %+v, %v off, %v", text, got, off, err)
		}
	}
	for text, want := range map[string]string{
		"412.5":                   "a line is not",
		"1,2,3,4":                 "a line is not",
		"yesterday,412.5":         "no time stamp",
		"-1,412.5":                "no time stamp",
		"1e30,412.5":              "a time stamp that is none",
		"NaN,412.5":               "no time stamp",
		"1763654400,much":         "no power in watts",
		"1763654400,-3":           "no power in watts",
		"1763654400,NaN":          "no power in watts",
		"1763654400,1e300":        "no power in watts",
		"1763654400,412,joules":   "no energy in joules",
		"1763654400,412,-1":       "no energy in joules",
		"1763654400,412,Infinity": "no energy in joules",
	} {
		if got, err := parseLine(text); !contains(err, want) || got != (line{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{"1763654400.25,412.5", "2025-11-20T16:00:00.25Z,412.5,1e9", ",5", "a,b,c", "1e308,1", "0x1p-2,3", "9999999999999999999,1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		if err != nil {
			if l != (line{}) {
				t.Errorf("%q: %+v beside an error", text, l)
			}
			return
		}
		if !(l.watts >= 0 && l.watts < 1e9) || !(l.joules >= 0 && !math.IsInf(l.joules, 0)) {
			t.Errorf("%q: %+v", text, l)
		}
		if !l.at.IsZero() && (l.at.Year() < 0 || l.at.Year() > 10000) {
			t.Errorf("%q: in the year %d", text, l.at.Year())
		}
	})
}

// told gives everything that a feed has: readings and faults.
func toldBy(f *feed) (readings []Reading, faults []string) {
	for range 100 {
		r, err := f.read()
		readings = append(readings, r...)
		if err != nil {
			faults = append(faults, err.Error())
		}
		if len(r) == 0 && (err == nil || errors.Is(err, ErrGone)) {
			break
		}
	}
	return readings, faults
}

func TestFeedLeavesOutWhatIsWrongAndSaysSo(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stamp := func(seconds float64) string { return now.Add(time.Duration(seconds * 1e9)).Format(time.RFC3339Nano) }
	for name, c := range map[string]struct {
		lines  []string
		watts  []float64
		faults []string
	}{
		"names, comments, gaps": {[]string{"timestamp,watts", "", "# started", stamp(-4) + ",1", stamp(-1) + ",2"}, []float64{1, 2}, nil},
		"twice":                 {[]string{stamp(-2) + ",1", stamp(-2) + ",2", stamp(-1) + ",3"}, []float64{1, 3}, []string{"a time stamp came twice"}},
		"back":                  {[]string{stamp(-2) + ",1", stamp(-3) + ",2", stamp(-1) + ",3"}, []float64{1, 3}, []string{"a time stamp went back"}},
		"rubbish":               {[]string{",1", "ERROR 7", "\x00\xff", stamp(1) + ",2"}, []float64{1, 2}, []string{`a line is not "timestamp,watts" or "timestamp,watts,joules": "ERROR 7"`}},
		"future":                {[]string{stamp(1e6) + ",1", ",2"}, []float64{2}, []string{"more than 5 s in the future"}},
		"old":                   {[]string{stamp(-60) + ",1", ",2"}, []float64{2}, []string{"more than 5 s old when it arrives"}},
		"names come late":       {[]string{",1", "timestamp,watts"}, []float64{1}, []string{"no time stamp"}},
		"joules come late":      {[]string{stamp(-2) + ",1", stamp(-1) + ",1,5"}, []float64{1}, []string{"has joules where the first had none"}},
		"a counter":             {[]string{stamp(-2) + ",1,100", stamp(-1) + ",1,130", stamp(0) + ",1"}, []float64{0, 30}, []string{"has joules where"}},
		"a counter goes back":   {[]string{stamp(-3) + ",1,100", stamp(-2) + ",1,130", stamp(-1) + ",1,5", stamp(0) + ",1,9"}, []float64{0, 30, 30, 34}, []string{"the joules went back", "the counter has lost count"}},
	} {
		f := newFeed(true)
		for _, l := range c.lines {
			f.take(l, now)
		}
		readings, faults := toldBy(f)
		var watts []float64
		for _, r := range readings {
			watts = append(watts, r.Value)
		}
		if len(watts) != len(c.watts) {
			t.Errorf("%s: %v, want %v", name, watts, c.watts)
			continue
		}
		for i := range watts {
			if watts[i] != c.watts[i] {
				t.Errorf("%s: %v, want %v", name, watts, c.watts)
			}
		}
		all := strings.Join(faults, "\n")
		if len(faults) != len(c.faults) {
			t.Errorf("%s: faults %q", name, all)
		}
		for _, want := range c.faults {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is not among the faults %q", name, want, all)
			}
		}
	}
}

func TestFeedTellsOneKindOfFaultInOneText(t *testing.T) {
	f := newFeed(true)
	f.take(",1", time.Now())
	for i := range 10 {
		f.take("rubbish number "+strings.Repeat("x", i*20), time.Now())
	}
	f.take("another,kind", time.Now())
	_, err := f.read()
	if r := (*repeated)(nil); !errors.As(err, &r) || r.times != 10 || !strings.Contains(r.text, `"rubbish number"`) {
		t.Errorf("%#v", err)
	}
	if _, err := f.read(); !contains(err, "another") {
		t.Errorf("%v", err)
	}
}

// endless gives the same line for ever.
type endless struct{ text string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	if n == 0 {
		n = copy(p, e.text)
	}
	return n, nil
}

func TestFeedMakesAFloodWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(true)
		source := &until{source: endless{",5\n"}, end: time.Now().Add(10 * time.Second)}
		go func() { _ = f.follow(source) }()
		time.Sleep(9500 * time.Millisecond)
		synctest.Wait()
		if most := 10*(linesPerSecond+1)*3 + longestLine; source.taken > most {
			t.Errorf("%d bytes were taken in 10 s; %d are 1,000 lines a second", source.taken, most)
		}
		_, faults := toldBy(f)
		if !strings.Contains(strings.Join(faults, "\n"), "more than 1000 lines came in a second, and were made to wait") {
			t.Errorf("%q", faults)
		}
		time.Sleep(time.Hour)
	})
}

func count1(faults []string, text string) (n int) {
	for _, f := range faults {
		if strings.Contains(f, text) {
			n++
		}
	}
	return n
}

// until ends a source at a time.
type until struct {
	source endless
	end    time.Time
	taken  int
}

func (u *until) Read(p []byte) (int, error) {
	if time.Now().After(u.end) {
		return 0, errors.New("over")
	}
	n, err := u.source.Read(p)
	u.taken += n
	return n, err
}

func TestFeedCutsLinesThatAreTooLong(t *testing.T) {
	f := newFeed(true)
	err := f.follow(strings.NewReader(",1\n" + strings.Repeat("9", 3*longestLine) + "\n,2\n,3"))
	readings, faults := toldBy(f)
	if err == nil || len(readings) != 3 || count1(faults, "too long") != 1 {
		t.Errorf("%v, %v, %q", err, readings, faults)
	}
}

func TestStreamOfAFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pdu.csv")
	if err := os.WriteFile(path, []byte("timestamp,watts\n"+time.Now().Add(-time.Hour).Format(time.RFC3339)+",300\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	meters, absences, err := Find(t.Context(), Config{Meters: []string{"stream:wall=" + path}})
	if err != nil || len(meters) != 1 {
		t.Fatalf("%v, %s", err, reasons(absences))
	}
	closeAll(t, meters)
	if i := meters[0].Info(); i.Scope != Wall || i.Quantity != Power || i.Source != "stream" {
		t.Errorf("%+v", i)
	}
	if w := only(t, meters[0]); w != 300 {
		t.Errorf("%v W", w)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	add := func(text string) {
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add(",310\n,3")
	if w := only(t, meters[0]); w != 310 {
		t.Errorf("%v W", w)
	}
	if r, err := meters[0].Read(t.Context()); len(r) != 0 || err != nil {
		t.Errorf("half a line: %v, %v", r, err)
	}
	add("20\n")
	if w := only(t, meters[0]); w != 320 {
		t.Errorf("%v W from a line in two parts", w)
	}
	if err := file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	add(",330\n")
	if w := only(t, meters[0]); w != 330 {
		t.Errorf("%v W after the file was begun anew", w)
	}
}

func TestStreamOfANamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	go func() { // a writer that comes and goes
		for range 2 {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return
			}
			_, _ = file.WriteString(",40,10\n")
			time.Sleep(20 * time.Millisecond)
			_, _ = file.WriteString(",40,12\n")
			_ = file.Close()
		}
	}()
	meters, absences, err := Find(t.Context(), Config{Meters: []string{"stream:node=" + path}})
	if err != nil || len(meters) != 1 {
		t.Fatalf("%v, %s", err, reasons(absences))
	}
	closeAll(t, meters)
	if i := meters[0].Info(); i.Quantity != Energy || i.Scope != Node {
		t.Errorf("%+v", i)
	}
	got, breaks := 0, 0
	for begin := time.Now(); got < 4 && time.Since(begin) < 10*time.Second; time.Sleep(time.Millisecond) {
		r, err := meters[0].Read(t.Context())
		got += len(r)
		if errors.Is(err, ErrBreak) {
			breaks++
		}
	}
	if got != 4 || breaks != 1 {
		t.Errorf("%d readings, %d breaks", got, breaks)
	}
}

func TestStreamSaysWhyItIsNotThere(t *testing.T) {
	folder := t.TempDir()
	silent := filepath.Join(folder, "silent")
	if err := os.WriteFile(silent, []byte("# nothing yet\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(folder, "none"): "there is no such file: start the logger first",
		folder:                        "neither a file nor a named pipe",
		silent:                        `no line like "timestamp,watts" or "timestamp,watts,joules" is in it`,
		pipe:                          `no line like "timestamp,watts"`,
	} {
		if m, err := openStreamWithin(t.Context(), spec{source: "stream", scope: Wall, value: path}, 20*time.Millisecond); m != nil || !contains(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if meters, _, err := Find(ctx, Config{Meters: []string{"stream:wall=" + silent}}); err == nil || meters != nil || time.Since(begin) > 5*time.Second {
		t.Errorf("a cancel is not heard: %v after %v", err, time.Since(begin))
	}
}

// A meter as one has it: lines that come late and early, a gap, a stamp twice, one that goes back, a line of rubbish.
func TestMeterWithFaultsIsIntegratedAroundThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(true)
		p := unpaced{&scripted{info: Info{Name: "pdu", Quantity: Power, Scope: Wall}, read: func(context.Context, int) ([]Reading, error) { return f.read() }}}
		begin := time.Now()
		r := recordFree(t.Context(), []Meter{p}, 0)
		stamp := func(at time.Time, text string) {
			f.take(strconv.FormatInt(at.UnixMicro(), 10)+","+text, time.Now())
		}
		for i := range 300 { // ten a second for 30 s, 200 W, and 400 W from 10 s to 20 s
			time.Sleep(100 * time.Millisecond)
			now := time.Now().Add(time.Duration(i%7-3) * 10 * time.Millisecond)
			second := now.Sub(begin).Seconds()
			switch {
			case second > 14 && second < 16.5: // a gap
			case i%50 == 20:
				stamp(now.Add(-time.Second), "900")
			case i%50 == 30:
				f.take("ERR", now)
			case second >= 10 && second < 20:
				stamp(now, "400")
				stamp(now, "900")
			default:
				stamp(now, "200")
			}
		}
		s := r.Stop()[0]
		for _, c := range []struct{ from, to, joules, gap float64 }{{2, 8, 1200, 0.25}, {11, 19, 3200, 2.6}, {5, 25, 6000, 2.6}} {
			a, err := s.Energy(begin.Add(time.Duration(c.from*1e9)), begin.Add(time.Duration(c.to*1e9)))
			if err != nil || math.Abs(a.Joules-c.joules) > a.Uncertainty+1e-6 || math.Abs(a.Joules-c.joules) > 0.01*c.joules || a.Coverage != 1 ||
				math.Abs(a.LargestGap.Seconds()-c.gap) > 0.15 || a.Uncertainty > 0.05*c.joules {
				t.Errorf("%v: %+v, %v", c, a, err)
			}
		}
		seen := map[string]bool{}
		for _, fault := range s.Faults {
			for _, kind := range []string{"twice", "went back", "a line is not"} {
				seen[kind] = seen[kind] || strings.Contains(fault.Text, kind)
			}
		}
		if len(seen) != 3 || !seen["twice"] || !seen["went back"] || !seen["a line is not"] {
			t.Errorf("%+v", s.Faults)
		}
	})
}
