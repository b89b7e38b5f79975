package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tepsbench/teps/plugins"
)

// finishedStore is a complete run of two engines. The first has a search for each list of its launches of levels; the
// second has two searches of two levels, and counts no launches.
func finishedStore(t *testing.T, warmUps int, launches ...[]int64) *Store {
	t.Helper()
	s := newStore(t)
	s.result.Plan.WarmUps = warmUps
	id := GraphID{Scale: 6}
	levels := make([]plugins.Level, 2)
	counted := make([][]plugins.Level, len(launches))
	for i, counts := range launches {
		for _, n := range counts {
			counted[i] = append(counted[i],
				plugins.Level{Counters: []plugins.Counter{{Name: plugins.KernelLaunches, Value: n}}})
		}
	}
	entries := []Entry{{GraphID: id, Graph: &GraphRecord{Recipe: s.result.Plan.Recipe(6), RootsFound: len(launches)}}}
	for engine, searches := range map[string][][]plugins.Level{"one": counted, "two": {levels, levels}} {
		entries = append(entries, Entry{Engine: engine, GraphID: id, Kernel1: &Kernel1{Idle: 1e-5}})
		for i, levels := range searches {
			entries = append(entries, Entry{Engine: engine, GraphID: id,
				Root: &RootRecord{Index: i, Time: 1, Wall: 2, NEdge: nedge(5), Levels: levels}})
		}
		entries = append(entries, Entry{Engine: engine, GraphID: id, End: &End{State: Complete}})
	}
	plan, err := json.MarshalIndent(s.result.Manifest, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	s.plan = plan
	if err := WriteFile(filepath.Join(s.dir, ManifestFile), plan); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	return s
}

// profileOf writes the page raw of a profile: kernel 1, the untimed searches, and those from two roots.
func profileOf(kernels ...string) string {
	var b strings.Builder
	b.WriteString(`==PROF== Connected to process 17 (/tmp/teps-engine-cuda-literature)
"ID","Kernel Name","gpu__time_duration.sum","dram__bytes.sum.per_second",` +
		`"smsp__thread_inst_executed_per_inst_executed.ratio","sm__warps_active.avg.pct_of_peak_sustained_active"` + "\n" +
		`"","","ns","byte/s","","%"` + "\n")
	launch := func(kernel string) {
		b.WriteString(`"0","` + kernel + `","2,000","1,500,000","24","n/a"` + "\n")
	}
	launch("sort")
	for range IdleSearches + 1 + 2 {
		launch("wake(unsigned long)")
		for _, kernel := range kernels {
			launch(kernel)
		}
	}
	return b.String()
}

func imported(t *testing.T, s *Store, engine, profile string) (int, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ncu.csv")
	if err := os.WriteFile(path, []byte(profile), 0o666); err != nil {
		t.Fatal(err)
	}
	return ImportProfile(s.Dir(), engine, path)
}

// Launches belong to the levels that counted them; without counters they belong to the search, or there is one a level.
func TestProfileBelongsToLevels(t *testing.T) {
	s := finishedStore(t, 1, []int64{1, 2}, []int64{1, 2})
	for range 2 { // the second replaces the first
		if n, err := imported(t, s, "one", profileOf("step", "step", "scan(int)", "after")); n != 2*3 || err != nil {
			t.Fatalf("imported %d launches, want 6: %v", n, err)
		}
	}
	two := func(kernels ...string) []Launch {
		if n, err := imported(t, s, "two", profileOf(kernels...)); n != 2*len(kernels) || err != nil {
			t.Fatalf("imported %d launches, want %d: %v", n, 2*len(kernels), err)
		}
		r, err := Load(s.Dir())
		if err != nil {
			t.Fatal(err)
		}
		return r.Runs[1].Roots[1].Profile
	}
	if got := two("level", "level"); got[0].Level == nil || *got[0].Level != 0 || *got[1].Level != 1 {
		t.Errorf("two launches of two levels: got %+v", got)
	}
	if got := two("search"); got[0].Level != nil {
		t.Errorf("one launch of two levels: got %+v", got)
	}
	r, err := Load(s.Dir())
	if err != nil || !r.Checksummed() {
		t.Fatalf("the record is damaged: %v", err)
	}
	time, dram, warps, levels := 2e-6, 1.5e6, 0.75, []int{0, 1}
	launch := func(level *int, kernel string) Launch {
		return Launch{Level: level, Kernel: kernel, Time: &time, DRAM: &dram, WarpEfficiency: &warps}
	}
	one := []Launch{launch(&levels[0], "step"), launch(&levels[1], "step"), launch(&levels[1], "scan")}
	for k, root := range r.Runs[0].Roots {
		if diff := cmp.Diff(one, root.Profile, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Errorf("root %d: want (-), got (+):\n%s", k, diff)
		}
	}
}

// A profile of the engine literature on an H200, without the columns that describe the device: kernel=romeo, scale 20,
// --roots 2 --warmup 0.
func TestProfileOfAnH200(t *testing.T) {
	s := finishedStore(t, 0, []int64{1, 1, 1, 1, 1, 1}, []int64{1, 1, 1, 1, 1, 1, 1})
	if n, err := ImportProfile(s.Dir(), "one", filepath.Join("testdata", "ncu-romeo.csv")); n != 13 || err != nil {
		t.Fatalf("imported %d launches, want 13: %v", n, err)
	}
	r, err := Load(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	level, number := 2, func(x float64) *float64 { return &x }
	want := Launch{Level: &level, Kernel: "romeo_csc", Time: number(24.512e-6), LoadEfficiency: number(0.3554),
		WarpEfficiency: number(16.69 / 32), Occupancy: number(0.9077), L2: number(2_801_450_391_644.91),
		DRAM: number(1_287_582_245_430.81)}
	if diff := cmp.Diff(want, r.Runs[0].Roots[1].Profile[2], cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestProfileOfAnotherCommandIsRefused(t *testing.T) {
	s := finishedStore(t, 1, []int64{1, 2}, []int64{1, 2})
	before, err := os.ReadFile(journalOf(s))
	if err != nil {
		t.Fatal(err)
	}
	whole := profileOf("step", "step", "scan")
	lines := strings.SplitAfter(whole, "\n")
	for name, c := range map[string]struct{ engine, profile, want string }{
		"nothing":          {"one", "", "want CSV of Nsight Compute"},
		"another table":    {"one", "a,b\n1,2\n", "ncu --csv --page raw --print-units base"},
		"a row a metric":   {"one", "Kernel Name,Metric Name\n", "ncu --csv --page raw"},
		"no units":         {"one", strings.Join(lines[:2], ""), "the row of units is missing"},
		"other units":      {"one", strings.Replace(whole, `"ns"`, `"us"`, 1), `duration.sum is in "us", want "ns"`},
		"other metrics":    {"one", "Kernel Name,x\n,\n", "none of the metrics"},
		"a short row":      {"one", whole + "1,2\n", "line 37: wrong number of fields"},
		"no engine":        {"", whole, "the record has 2 such runs with searches"},
		"another engine":   {"three", whole, "the record has 0 such runs with searches"},
		"a search is gone": {"one", strings.Replace(whole, "wake(", "woke(", 1), "7 searches, want 6 untimed ones and 2"},
		"launches are missing": {"one", profileOf("step", "step"),
			"search 0: level 1 has 2 kernel launches in the record, but the profile has 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := imported(t, s, c.engine, c.profile); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if after, err := os.ReadFile(journalOf(s)); err != nil || string(after) != string(before) {
		t.Errorf("a refused profile has changed the journal: %v", err)
	}
	missing := filepath.Join(s.Dir(), "none")
	if _, err := ImportProfile(s.Dir(), "one", missing); err == nil || !strings.Contains(err.Error(), "read the profile") {
		t.Errorf("a missing file: %v", err)
	}
}
