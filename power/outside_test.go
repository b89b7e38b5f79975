package power

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
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

func TestDCMIIsUnderstood(t *testing.T) {
	if w, err := parseDCMI(dcmi); w != 220 || err != nil {
		t.Errorf("%v, %v", w, err)
	}
	for out, want := range map[string]string{
		"    Instantaneous power reading:   0 Watts\n    Power reading state is:    deactivated\n":  "is deactivated (try: ipmitool dcmi power activate)",
		"    Instantaneous power reading:   0 Watts\n    Power reading state is:    activated\n":    "reads 0 W, which cannot be",
		"Could not open device at /dev/ipmi0 or /dev/ipmi/0 or /dev/ipmidev/0: Permission denied\n": "Permission denied (run as root, or let",
		"DCMI request failed because: Invalid command (c1)\n":                                       "(the board controller has no DCMI power reading)",
		"":                   "ipmitool answers: nothing",
		"Get Device ID\nhuh": "ipmitool answers: Get Device ID",
	} {
		if w, err := parseDCMI(out); w != 0 || !contains(err, want) {
			t.Errorf("%q: %v, %v", out, w, err)
		}
	}
}

// program writes a shell script.
func program(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIPMIAsksItsTool(t *testing.T) {
	m := machine{t, t.TempDir()}
	bin := t.TempDir()
	find := func() ([]Meter, []Absence) {
		meters, absences, err := Find(t.Context(), Config{Root: m.root, Meters: []string{"ipmi"}})
		if err != nil {
			t.Fatal(err)
		}
		return meters, absences
	}
	old := os.Getenv("PATH")
	t.Setenv("PATH", bin)
	if meters, absences := find(); len(meters) != 0 || !contains(errors.New(reasons(absences)), "there is no /dev/ipmi0") || !absences[0].Asked {
		t.Errorf("no device: %s", reasons(absences))
	}
	m.write("dev/ipmi0", "")
	if meters, absences := find(); len(meters) != 0 || !contains(errors.New(reasons(absences)), "apt-get install ipmitool") {
		t.Errorf("no tool: %s", reasons(absences))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+old)
	program(t, bin, "ipmitool", "echo 'Power reading state is: deactivated'; exit 1")
	if meters, absences := find(); len(meters) != 0 || !contains(errors.New(reasons(absences)), "is deactivated") {
		t.Errorf("deactivated: %s", reasons(absences))
	}
	program(t, bin, "ipmitool", `[ "$*" = "dcmi power reading" ] && cat <<END`+dcmi+"END\n")
	meters, absences := find()
	if len(meters) != 1 {
		t.Fatalf("%s", reasons(absences))
	}
	closeAll(t, meters)
	if i := meters[0].Info(); i.Scope != Node || i.Period != time.Second || i.Step != 1 {
		t.Errorf("%+v", i)
	}
	if p, ok := meters[0].(Paced); !ok || p.Pace() != time.Second {
		t.Error("it is not read once a second")
	}
	if w := only(t, meters[0]); w != 220 {
		t.Errorf("%v W", w)
	}
}

// controller is a Redfish server with two chassis: one of today, one of old, and a link that leads away.
func controller(t *testing.T, login bool) *httptest.Server {
	mux := http.NewServeMux()
	answer := func(path string, value any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); login && (user != "reader" || password != "secret") {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	type object = map[string]any
	link := func(path string) object { return object{"@odata.id": path} }
	answer("/redfish/v1/Chassis", object{"Members": []object{link("/redfish/v1/Chassis/Self"), link("/redfish/v1/Chassis/Old"), link("/redfish/v1/Chassis/Fan"), link("http://elsewhere/x")}})
	answer("/redfish/v1/Chassis/Self", object{"EnvironmentMetrics": link("/redfish/v1/Chassis/Self/EnvironmentMetrics"), "Power": link("/redfish/v1/Chassis/Self/Power")})
	answer("/redfish/v1/Chassis/Self/EnvironmentMetrics", object{"PowerWatts": object{"Reading": 412.5}})
	answer("/redfish/v1/Chassis/Self/Power", object{"PowerControl": []object{{"PowerConsumedWatts": 1}}})
	answer("/redfish/v1/Chassis/Old", object{"Power": link("/redfish/v1/Chassis/Old/Power")})
	answer("/redfish/v1/Chassis/Old/Power", object{"PowerControl": []object{{"PowerConsumedWatts": nil}, {"PowerConsumedWatts": 300}}})
	answer("/redfish/v1/Chassis/Fan", object{})
	mux.HandleFunc("GET /away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
	})
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of clients that do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestRedfishReadsEachChassis(t *testing.T) {
	server := controller(t, true)
	t.Setenv(redfishUser, "reader")
	t.Setenv(redfishPassword, "secret")
	meters, absences, err := Find(t.Context(), Config{Meters: []string{"redfish-insecure=" + server.URL}})
	if err != nil || len(meters) != 2 {
		t.Fatalf("%v, %d meters, %s", err, len(meters), reasons(absences))
	}
	closeAll(t, meters)
	for i, want := range []float64{412.5, 300} {
		if w := only(t, meters[i]); w != want {
			t.Errorf("%v W, want %v", w, want)
		}
		info := meters[i].Info()
		if info.Scope != Node || info.Method != Measured || contains(errors.New(info.Detail+info.Name), "secret") {
			t.Errorf("%+v", info)
		}
	}
	if meters[0].Info().Name == meters[1].Info().Name {
		t.Error("two meters of one name")
	}
	server.CloseClientConnections()
	server.Close()
	if _, err := meters[0].Read(t.Context()); !contains(err, "does not answer") || errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
}

func TestRedfishSaysWhyItIsNotThere(t *testing.T) {
	server := controller(t, true)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redfish/v1/Chassis" {
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		}
	}))
	t.Cleanup(plain.Close)
	silent := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(silent.Close)
	words := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(words.Close)
	for spec, want := range map[string]string{
		"redfish=" + server.URL:           "add its authority to the system's, or ask for redfish-insecure=https://",
		"redfish-insecure=" + server.URL:  "wants a login (401 Unauthorized): set TEPS_REDFISH_USER and TEPS_REDFISH_PASSWORD",
		"redfish=" + plain.URL:            "sends on to another address, which is not followed",
		"redfish=" + silent.URL:           "answers 404 Not Found to /redfish/v1/Chassis",
		"redfish=" + words.URL:            "is not what Redfish answers",
		"redfish=https://127.0.0.1:1":     "does not answer",
		"redfish=http://bmc.example:8000": "write https",
	} {
		if spec == "redfish=http://bmc.example:8000" {
			t.Setenv(redfishUser, "reader")
		}
		meters, absences, err := Find(t.Context(), Config{Meters: []string{spec}})
		if spec == "redfish=http://bmc.example:8000" {
			t.Setenv(redfishUser, "")
		}
		if err != nil || len(meters) != 0 || len(absences) != 1 || !absences[0].Asked || absences[0].Source != spec || !contains(errors.New(reasons(absences)), want) {
			t.Errorf("%s: %v, %d meters, %s", spec, err, len(meters), reasons(absences))
		}
	}
}
