// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
)

func TestCommandIsAMeter(t *testing.T) {
	t.Setenv(redfishPassword, "secret")
	text := "command:wall=" + script(t, t.TempDir(), "meter", `echo timestamp,watts
[ -z "$`+redfishPassword+`" ] || exit 1
while :; do echo "$(date +%s.%N),350.5"; sleep 0.01; done`)
	meters, absences := find(t, text)
	if len(meters) != 1 {
		t.Fatalf("got no meter: %s", describe(absences))
	}
	i := meters[0].Info()
	if i.Scope != power.Wall || !i.ScopeStated || i.Method != power.Measured || i.Quantity != power.Power ||
		i.Name != text {
		t.Errorf("%+v", i)
	}
	if readings, err := meters[0].Read(t.Context()); err != nil || readings[0].Value != 350.5 {
		t.Errorf("got %v and %v, want 350.5 W", readings, err)
	}
}

// start runs a script as a meter. It may take limit until its first line.
func start(t *testing.T, text string, limit time.Duration) (*commandMeter, error) {
	t.Helper()
	path := script(t, t.TempDir(), "meter", text)
	m, err := startCommand(t.Context(), Request{Scope: power.Wall, Value: path}, limit)
	if err == nil {
		t.Cleanup(func() { must.Do(m.Close()) })
	}
	return m, err
}

// readAll reads until the program has ended.
func readAll(t *testing.T, m *commandMeter) (readings []power.Reading, faults []string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < 20*time.Second; time.Sleep(time.Millisecond) {
		r, err := m.Read(t.Context())
		readings = append(readings, r...)
		if errors.Is(err, power.ErrGone) {
			return readings, append(faults, err.Error())
		}
		if err != nil {
			faults = append(faults, err.Error())
		}
	}
	t.Fatal("the program did not end")
	return nil, nil
}

func TestCommandThatEndsIsGoneAndSaysWhy(t *testing.T) {
	m := must.Get(start(t, "echo ,5; echo ,6; echo 'no such meter' >&2; exit 3", 10*time.Second))
	readings, faults := readAll(t, m)
	want := "the meter is gone: the program has ended (exit status 3; its last output: no such meter)"
	if len(readings) != 2 || len(faults) != 1 || faults[0] != want {
		t.Errorf("got %d readings, %q, want 2 and %q", len(readings), faults, want)
	}
}

func TestCommandWithoutReadingsIsAbsent(t *testing.T) {
	for text, want := range map[string]string{
		"echo hello; sleep 60":    `"timestamp,watts" within 200ms; a line is not`,
		"exec sleep 60":           `it printed no line "timestamp,watts"`,
		"echo broken >&2; exit 1": "the program has ended (exit status 1; its last output: broken)",
	} {
		limit := 200 * time.Millisecond
		if strings.Contains(text, "exit") {
			limit = 10 * time.Second
		}
		if m, err := start(t, text, limit); m != nil || !contains(err, want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	meters, absences := find(t, "command:wall=/no/such/program")
	if len(meters) != 0 || len(absences) != 1 || !absences[0].Asked ||
		!strings.Contains(absences[0].Reason, "/no/such/program: the program does not start") {
		t.Errorf("no program: got %v", absences)
	}
}

func TestReadingsThatWaitAreBounded(t *testing.T) {
	readings, faults := taken(time.Now(), slices.Repeat([]string{",5"}, maxWaiting+1)...)
	want := []string{`more than 1000 lines were printed before they could be read: ",5"`}
	if len(readings) != maxWaiting || !slices.Equal(faults, want) {
		t.Errorf("got %d readings and %q, want %d and %q", len(readings), faults, maxWaiting, want)
	}
}

// taken returns what a meter makes of lines that arrive at a moment.
func taken(now time.Time, lines ...string) (readings []power.Reading, faults []string) {
	m := newCommandMeter(Request{Scope: power.Wall, Value: "meter"})
	for _, l := range lines {
		m.take(l, now)
		if m.fault != nil {
			faults = append(faults, m.fault.Error())
		}
		m.fault = nil
	}
	return m.readings, faults
}

func TestWrongLinesAreLeftOutAndReported(t *testing.T) {
	readings, faults := taken(arrival, "timestamp,watts", "", "# started", ",1", "ERROR 7", "\x00\xff", ",2")
	if len(readings) != 2 || readings[0].Value != 1 || readings[1].Value != 2 || len(faults) != 2 {
		t.Errorf("got %v and faults %q", readings, faults)
	}
	must.Fail(t, errors.New(strings.Join(faults, "\n")), `a line is not "timestamp,watts": "ERROR 7"`, `"\x00\xff"`)
}

func TestTheExampleOfAMeter(t *testing.T) {
	bin := t.TempDir()
	script(t, bin, "snmpget", `[ "$*" = "-v2c -c public -Oqv pdu 1.3.6.1" ] && echo 412`)
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	meters, absences := find(t, "command:wall@2%=../../examples/meters/snmp.sh pdu 1.3.6.1")
	if len(meters) != 1 {
		t.Fatalf("got no meter: %s", describe(absences))
	}
	if w := only(t, meters[0]); w != 412 {
		t.Errorf("got %v W, want 412", w)
	}
	meters, absences = find(t, "command:wall=../../examples/meters/snmp.sh pdu other")
	if len(meters) != 0 || !strings.Contains(describe(absences), "the program has ended (exit status 1") {
		t.Errorf("a unit that does not answer: got %d meters, %s", len(meters), describe(absences))
	}
}

// arrival is when the lines of a test arrive.
var arrival = time.Date(2025, 11, 20, 16, 0, 1, 0, time.UTC)

func TestParseLine(t *testing.T) {
	at := arrival.Add(-750 * time.Millisecond)
	for text, want := range map[string]power.Reading{
		"1763654400.25,412.5":              {Time: at, Value: 412.5},
		"1763654400250,412.5":              {Time: at, Value: 412.5},
		"1763654400250000,412.5":           {Time: at, Value: 412.5},
		"1763654400250000000 , 412.5 ":     {Time: at, Value: 412.5},
		"2025-11-20T16:00:00.25Z,412.5":    {Time: at, Value: 412.5},
		"2025-11-20T17:00:00.25+01:00,7e2": {Time: at, Value: 700},
		",0":                               {Time: arrival},
	} {
		got, err := parseLine(text, arrival)
		if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(time.Microsecond)); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"412.5":             "a line is not",
		"1763654400,412,99": "not a power in watts",
		"yesterday,412.5":   "not a time stamp",
		"-1,412.5":          "off this machine's clock",
		"1e30,412.5":        "off this machine's clock",
		"Inf,412.5":         "off this machine's clock",
		"1763654390,412.5":  "off this machine's clock",
		"1763654400,much":   "not a power in watts",
		"1763654400,-3":     "not a power in watts",
		"1763654400,NaN":    "not a power in watts",
		"1763654400,1e300":  "not a power in watts",
	} {
		if got, err := parseLine(text, arrival); !contains(err, want) || got != (power.Reading{}) {
			t.Errorf("%q: got %+v, %v, want %s", text, got, err, want)
		}
	}
}
