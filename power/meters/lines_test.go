package meters

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/power"
)

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
		"412.5":                "a line is not",
		"1763654400,412,99":    "not a power in watts",
		"yesterday,412.5":      "not a time stamp",
		"-1,412.5":             "off this machine's clock",
		"1e30,412.5":           "off this machine's clock",
		"NaN,412.5":            "off this machine's clock",
		"1763654390,412.5":     "off this machine's clock",
		"1763654400,much":      "not a power in watts",
		"1763654400,-3":        "not a power in watts",
		"1763654400,NaN":       "not a power in watts",
		"1763654400,1e300":     "not a power in watts",
		"1763654400.5,412,wat": "not a power in watts",
	} {
		if got, err := parseLine(text, arrival); !contains(err, want) || got != (power.Reading{}) {
			t.Errorf("%q: got %+v, %v, want %s", text, got, err, want)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	for _, s := range []string{
		"1763654400.25,412.5", "2025-11-20T16:00:00.25Z,412.5", ",5", "a,b,c", "1e308,1", "0x1p-2,3", "9999999999999999999,1",
		"Inf,1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseLine(text, arrival)
		if err != nil {
			if r != (power.Reading{}) {
				t.Errorf("%q: got %+v and an error", text, r)
			}
			return
		}
		if !(r.Value >= 0 && r.Value < 1e9) || r.Time.Sub(arrival).Abs() > maxClockError {
			t.Errorf("%q: got %+v", text, r)
		}
	})
}
