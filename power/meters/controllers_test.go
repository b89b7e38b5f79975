// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
)

const dcmi = `
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                384 Watts
    Average power reading over sample period:      211 Watts
    IPMI timestamp:                           Fri Nov 20 16:00:00 2026
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated

`

func TestParseDCMI(t *testing.T) {
	if w, err := parseDCMI(dcmi); w != 220 || err != nil {
		t.Errorf("got %v W, %v, want 220 W", w, err)
	}
	for out, want := range map[string]string{
		"Instantaneous power reading: 0 Watts\nPower reading state is: deactivated\n": "try: ipmitool dcmi power activate",
		"Instantaneous power reading: 0 Watts\nPower reading state is: activated\n":   "reports 0 W, which cannot be right",
		"Could not open device at /dev/ipmi0 or /dev/ipmi/0: Permission denied\n":     "denied (run as root, or give",
		"DCMI request failed because: Invalid command (c1)\n":                         "(the controller cannot report power)",
		"":                   "ipmitool printed: nothing",
		"Get Device ID\nhuh": "ipmitool printed: Get Device ID",
	} {
		if w, err := parseDCMI(out); w != 0 || !contains(err, want) {
			t.Errorf("%q: got %v W, %v, want %s", out, w, err, want)
		}
	}
}

// script writes a shell script and returns its path.
func script(t *testing.T, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	must.Do(os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	return path
}

func TestIPMIAsksItsTool(t *testing.T) {
	m := emptyMachine(t)
	bin := t.TempDir()
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin)
	absent := func(want string) {
		t.Helper()
		_, err := m.open(ipmiSource())
		must.Fail(t, err, want)
	}
	absent("there is no /dev/ipmi0")
	m.write("dev/ipmi0", "")
	absent("apt-get install ipmitool")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	script(t, bin, "ipmitool", "echo 'Power reading state is: deactivated'; exit 1")
	absent("is deactivated")
	script(t, bin, "ipmitool", `[ "$*" = "dcmi power reading" ] && cat <<END`+dcmi+"END\n")
	meters, err := m.open(ipmiSource())
	if len(meters) != 1 {
		t.Fatalf("got %d meters, %v, want 1", len(meters), err)
	}
	i := meters[0].Info()
	if i.Scope != power.Node || i.Period != time.Second || i.MinInterval != time.Second || i.Step != 1 {
		t.Errorf("%+v", i)
	}
	if w := only(t, meters[0]); w != 220 {
		t.Errorf("got %v W, want 220", w)
	}
	script(t, bin, "ipmitool", "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must.Fail(t, must.Err(meters[0].Read(ctx)), "did not answer in time")
}

// controller is a Redfish server with a modern and an old chassis, one without power, and a link to another server.
func controller(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	answer := func(path string, value any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user != "reader" || password != "secret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	type object = map[string]any
	link := func(path string) object { return object{"@odata.id": path} }
	answer("/redfish/v1/Chassis", object{"Members": []object{link("/redfish/v1/Chassis/Self"),
		link("/redfish/v1/Chassis/Old"), link("/redfish/v1/Chassis/Fan"), link("http://elsewhere/x")}})
	answer("/redfish/v1/Chassis/Self",
		object{"EnvironmentMetrics": link("/redfish/v1/Chassis/Self/EnvironmentMetrics"),
			"Power": link("/redfish/v1/Chassis/Self/Power")})
	answer("/redfish/v1/Chassis/Self/EnvironmentMetrics", object{"PowerWatts": object{"Reading": 412.5}})
	answer("/redfish/v1/Chassis/Self/Power", object{"PowerControl": []object{{"PowerConsumedWatts": 1}}})
	answer("/redfish/v1/Chassis/Old", object{"Power": link("/redfish/v1/Chassis/Old/Power")})
	answer("/redfish/v1/Chassis/Old/Power", object{"PowerControl": []object{{"PowerConsumedWatts": nil},
		{"PowerConsumedWatts": 300}}})
	answer("/redfish/v1/Chassis/Fan", object{})
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // about clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// find opens meters by specification, without those of the machine that runs the test.
func find(t *testing.T, text string) ([]power.Meter, []power.Absence) {
	t.Helper()
	meters, absences := must.Get2(Find(t.Context(), Config{Root: t.TempDir(), Specs: []string{text}}))
	t.Cleanup(func() { _ = power.Here(meters).Close() })
	return meters, absences
}

func TestRedfishReadsEachChassis(t *testing.T) {
	server := controller(t)
	t.Setenv(redfishUser, "reader")
	t.Setenv(redfishPassword, "secret")
	meters, absences := find(t, "redfish-insecure="+server.URL)
	if len(meters) != 2 || meters[0].Info().Name == meters[1].Info().Name {
		t.Fatalf("got %v, %s, want 2 meters", meters, describe(absences))
	}
	for i, want := range []float64{412.5, 300} {
		info := meters[i].Info()
		if w := only(t, meters[i]); w != want || info.Scope != power.Node || !info.ScopeStated ||
			strings.Contains(info.Detail+info.Name, "secret") {
			t.Errorf("got %v W, want %v; %+v", w, want, info)
		}
	}
	server.CloseClientConnections()
	server.Close()
	if _, err := meters[0].Read(t.Context()); !contains(err, "does not answer") || errors.Is(err, power.ErrGone) {
		t.Errorf("a server that is gone: %v", err)
	}
}

func TestRedfishSaysWhyItIsAbsent(t *testing.T) {
	server := controller(t)
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	redirect := serve(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
	})
	page := serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
	empty := serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	for _, c := range []struct{ text, user, want string }{
		{"redfish=" + server.URL, "", "add its authority to those of the system, or use redfish-insecure"},
		{"redfish-insecure=" + server.URL, "",
			"requires a login (401 Unauthorized): set TEPS_REDFISH_USER and TEPS_REDFISH_PASSWORD"},
		{"redfish=" + serve(http.NotFound), "", "answered 404 Not Found to /redfish/v1/Chassis"},
		{"redfish=" + redirect, "", "redirects to another server are not followed"},
		{"redfish=" + page, "", "is not a Redfish answer"},
		{"redfish=" + empty, "", "none of the 0 chassis"},
		{"redfish=https://127.0.0.1:1", "", "does not answer"},
		{"redfish=http://bmc.example:8000", "reader", "write https"},
	} {
		t.Setenv(redfishUser, c.user)
		meters, absences := find(t, c.text)
		if len(meters) != 0 || len(absences) != 1 || !absences[0].Asked || absences[0].Source != c.text ||
			!strings.Contains(absences[0].Reason, c.want) {
			t.Errorf("%s: got %d meters, %s, want %s", c.text, len(meters), describe(absences), c.want)
		}
	}
}

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
