// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
)

func TestParse(t *testing.T) {
	type want struct {
		source string
		scope  power.Scope
		value  string
		error  float64
	}
	for text, w := range map[string]want{
		"rapl":                              {"rapl", "", "", 0},
		"rapl:package":                      {"rapl", power.Package, "", 0},
		"ipmi:node@5%":                      {"ipmi", power.Node, "", 0.05},
		"redfish=https://bmc.example":       {"redfish", power.Node, "https://bmc.example", 0},
		"redfish:wall@3%=https://bmc":       {"redfish", power.Wall, "https://bmc", 0.03},
		"command:wall=./meter.sh -i 1":      {"command", power.Wall, "./meter.sh -i 1", 0},
		"command:wall=./m --key=value a@b":  {"command", power.Wall, "./m --key=value a@b", 0},
		"command:wall@0.5%=./pdu.sh --port": {"command", power.Wall, "./pdu.sh --port", 0.005},
	} {
		s, err := parse(Sources(), text)
		if got := (want{s.Name, s.scope, s.value, s.error}); err != nil || got != w || !s.asked || s.text != text {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, w)
		}
	}
	if all, err := parseAll(Sources(), nil); err != nil || len(all) != 4 || all[0].Name != "rapl" || all[0].asked {
		t.Errorf("nothing asked for: got %+v, %v, want the four sources that search the machine", all, err)
	}
}

func TestWrongSpecificationsAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `unknown source ""; the sources are auto, rapl, nvml, hwmon, ipmi, redfish,`,
		"rappl":                          `unknown source "rappl"`,
		"auto:package":                   `unknown source "auto"`,
		"rapl:cpu":                       `unknown scope "cpu"; the scopes are package, dram`,
		"rapl=package":                   "the source takes no value; write for example rapl:package",
		"command:wall=":                  "write for example command:wall=./meter.sh",
		"command:wall=   ":               "write for example command:wall=./meter.sh",
		"command=./meter.sh":             "state what the meter covers; write for example command:wall=./meter.sh",
		"command:wall@=x":                "write for example @2%",
		"command:wall@2=x":               "write for example @2%",
		"command:wall@0%=x":              "write for example @2%",
		"command:wall@NaN%=x":            "write for example @2%",
		"command:wall@100%=x":            "write for example @2%",
		"redfish=bmc.example":            "not an http or https address; write for example redfish=https://bmc.example",
		"redfish":                        "write for example redfish=https://bmc.example",
		"redfish=https://me:secret@bmc/": "set TEPS_REDFISH_USER and TEPS_REDFISH_PASSWORD",
	} {
		meters, _, err := Find(t.Context(), Config{Root: t.TempDir(), Specs: []string{"rapl", text}})
		if !contains(err, want) || contains(err, "secret") || meters != nil {
			t.Errorf("%q: got %d meters, %v, want %s", text, len(meters), err, want)
		}
	}
}

func TestHelpNamesEverySource(t *testing.T) {
	help := Help(Sources())
	for _, s := range Sources() {
		if !strings.Contains(help, "\n  "+s.Name) || !strings.Contains(help, s.Help) {
			t.Errorf("the help does not explain %s", s.Name)
		}
	}
}

// dummySource is a new source. Apart from it, only the list of sources has to change.
func dummySource() Source {
	return Source{Name: "dummy", Help: "a meter of a test", Open: func(context.Context, Request) ([]power.Meter, error) {
		return []power.Meter{dummy{"dummy:a", power.GPU}, dummy{"dummy:b", power.Node}},
			&power.PartError{Scope: power.DRAM, Err: errors.New("there is no third meter")}
	}}
}

type dummy struct {
	name  string
	scope power.Scope
}

func (d dummy) Info() power.Info { return power.Info{Name: d.name, Source: "dummy", Scope: d.scope} }
func (d dummy) Close() error     { return nil }
func (d dummy) Read(context.Context) ([]power.Reading, error) {
	return []power.Reading{{Time: time.Now(), Value: 100}}, nil
}

func TestANewSourceIsFoundReadAndExplained(t *testing.T) {
	sources := append(Sources(), dummySource())
	find := func(specs ...string) ([]power.Meter, []power.Absence) {
		t.Helper()
		meters, absences := must.Get2(Find(t.Context(), Config{Root: t.TempDir(), Specs: specs, Sources: sources}))
		return meters, absences
	}
	for _, specs := range [][]string{nil, {"dummy"}, {"auto", "dummy:gpu"}} {
		meters, absences := find(specs...)
		if len(meters) != 2 || only(t, meters[0]) != 100 {
			t.Errorf("%v: got %d meters, want 2", specs, len(meters))
		}
		if text := describe(absences); !strings.Contains(text, "dummy: there is no third meter") {
			t.Errorf("%v: absent: %s", specs, text)
		}
		must.Do(power.Here(meters).Close())
	}
	for _, asked := range []bool{false, true} { // a part that is lost is an error if its source was asked for
		_, absences := find(map[bool]string{false: auto, true: "dummy"}[asked])
		last := absences[len(absences)-1]
		want := power.Absence{Source: "dummy", Reason: "there is no third meter", Asked: asked, Scope: power.DRAM}
		if last != want {
			t.Errorf("got %+v, want %+v", last, want)
		}
	}
	meters, absences := find("dummy:node@2%")
	if len(meters) != 1 || meters[0].Info().Scope != power.Node || meters[0].Info().Error != 0.02 ||
		meters[0].Info().ScopeStated || !meters[0].Info().Asked || absences != nil {
		t.Errorf("a scope and an error: got %v, %v", meters, absences)
	}
	if meters, absences := find("dummy:wall"); len(meters) != 0 || len(absences) != 1 || !absences[0].Asked {
		t.Errorf("a scope without meters: got %v, %v", meters, absences)
	}
}

func describe(absences []power.Absence) string {
	var all []string
	for _, a := range absences {
		all = append(all, a.Source+": "+a.Reason)
	}
	return strings.Join(all, "\n")
}

func TestFindSearchesTheMachine(t *testing.T) {
	for _, archive := range []string{"two-packages", "sensors"} {
		meters, absences := must.Get2(Find(t.Context(), Config{Root: unpack(t, archive).root}))
		sources := map[string]bool{}
		for _, m := range meters {
			sources[m.Info().Source] = m.Info().Name != "" && m.Info().Detail != ""
		}
		for _, a := range absences {
			sources[a.Source] = !a.Asked && a.Reason != ""
		}
		for _, s := range Sources() {
			if s.local() && !sources[s.Name] {
				t.Errorf("%s is neither found nor absent: %v, %v", s.Name, meters, absences)
			}
		}
		must.Do(power.Here(meters).Close())
	}
}

func TestFindEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	meters, _, err := Find(ctx, Config{Root: unpack(t, "two-packages").root})
	if !errors.Is(err, context.Canceled) || meters != nil {
		t.Errorf("got %d meters, %v", len(meters), err)
	}
}

// server returns the meters of a server with five zones and eight GPUs.
func server(b *testing.B) []power.Meter {
	b.Helper()
	zones := must.Get(unpack(b, "two-packages").open(raplSource()))
	gpus := must.Get(openNVML((&fakeNVML{gpus: make([]fakeGPU, 8)}).nvml()))
	return append(zones, gpus...)
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

// A machine is a directory with the files that Linux would show.
type machine struct {
	t    testing.TB
	root string
}

func emptyMachine(t testing.TB) machine { return machine{t, t.TempDir()} }

// unpack makes the machine that an archive in testdata describes. (The names of zones have colons, which names of
// files in a Go module cannot have.)
func unpack(t testing.TB, archive string) machine {
	t.Helper()
	a := must.Get(txtar.ParseFile(filepath.Join("testdata", archive+".txtar")))
	m := emptyMachine(t)
	for _, f := range a.Files {
		m.write(f.Name, string(f.Data))
	}
	return m
}

// path returns the path of a file, whose directory exists.
func (m machine) path(name string) string {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	must.Do(os.MkdirAll(filepath.Dir(path), 0o755))
	return path
}

// write replaces the content of a file, also while it is open.
func (m machine) write(name, text string) {
	m.t.Helper()
	must.Do(os.WriteFile(m.path(name), []byte(text), 0o644))
}

// open opens the meters of a source and closes them when the test ends.
func (m machine) open(source Source) ([]power.Meter, error) {
	m.t.Helper()
	meters, err := source.Open(m.t.Context(), Request{Root: m.root})
	m.t.Cleanup(func() { must.Do(power.Here(meters).Close()) })
	return meters, err
}

// only reads a meter and returns the value of its only reading.
func only(t testing.TB, m power.Meter) float64 {
	t.Helper()
	readings, err := m.Read(t.Context())
	if err != nil || len(readings) != 1 || readings[0].Time.IsZero() {
		t.Fatalf("%s: got %v, %v, want one reading", m.Info().Name, readings, err)
	}
	return readings[0].Value
}

func byName(meters []power.Meter) map[string]power.Meter {
	all := map[string]power.Meter{}
	for _, m := range meters {
		all[m.Info().Name] = m
	}
	return all
}

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSpecificationsForOtherHosts(t *testing.T) {
	got, err := Everywhere([]string{"auto", "rapl:package", "command:wall@1%=./meter.sh  -u http://a//b",
		"command:gpu=watts"})
	dir, _ := os.Getwd()
	want := []string{"auto", "rapl:package", "command:wall@1%=" + dir + "/meter.sh  -u http://a//b", "command:gpu=watts"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	for spec, words := range map[string]string{
		"redfish=https://bmc.example": "board of one host", "redfish-insecure:wall=https://bmc.example": "board of one host",
		"coal": "unknown source", "command=./meter.sh": "state what the meter covers",
	} {
		must.Fail(t, must.Err(Everywhere([]string{"rapl", spec})), words)
	}
}
