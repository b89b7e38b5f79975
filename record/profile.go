package record

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/plugins"
)

// Launch is one launch of a kernel in a search, as a profiler measured it. Rates are in bytes per second, shares
// between 0 and 1.
type Launch struct {
	Level          *int     `json:"level,omitempty"` // nil: the engine does not count launches for each level
	Kernel         string   `json:"kernel"`
	Time           *float64 `json:"time,omitempty"`            // seconds on the device
	LoadEfficiency *float64 `json:"load_efficiency,omitempty"` // share of the bytes moved for loads that threads asked for
	WarpEfficiency *float64 `json:"warp_efficiency,omitempty"` // share of a warp's 32 threads that execute an instruction
	Occupancy      *float64 `json:"occupancy,omitempty"`       // share of the warps that fit on the multiprocessors
	L2             *float64 `json:"l2,omitempty"`
	DRAM           *float64 `json:"dram,omitempty"`
}

// Profile has the launches of the search from one root.
type Profile struct {
	Root     int      `json:"root"` // its index
	Launches []Launch `json:"launches"`
}

// profileMetrics are the metrics of Nsight Compute that a Launch holds, with their units. A value times scale is that
// of the Launch.
var profileMetrics = []struct {
	name, unit string
	scale      float64
	of         func(*Launch) **float64
}{
	{"gpu__time_duration.sum", "ns", 1e-9, func(l *Launch) **float64 { return &l.Time }},
	{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%", 1e-2,
		func(l *Launch) **float64 { return &l.LoadEfficiency }},
	{"smsp__thread_inst_executed_per_inst_executed.ratio", "", 1. / 32,
		func(l *Launch) **float64 { return &l.WarpEfficiency }},
	{"sm__warps_active.avg.pct_of_peak_sustained_active", "%", 1e-2,
		func(l *Launch) **float64 { return &l.Occupancy }},
	{"lts__t_bytes.sum.per_second", "byte/s", 1, func(l *Launch) **float64 { return &l.L2 }},
	{"dram__bytes.sum.per_second", "byte/s", 1, func(l *Launch) **float64 { return &l.DRAM }},
}

// ImportProfile adds a profile to the record in dir: what Nsight Compute measured while it watched an engine in another
// run of the same command (docs/cuda.md has its flags). An empty label stands for the only engine. It returns the
// number of launches.
func ImportProfile(dir, engine, path string) (launches int, err error) {
	s, err := reopen(dir)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if !s.result.Checksummed() {
		return 0, Usage("%s is not complete, or has lost its %s; run the command again", dir, ResultFile)
	}
	data, err := regular.Read(path, maxFile)
	if err != nil {
		return 0, Usage("read the profile: %w", err)
	}
	searches, err := parseProfile(data)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	entries, err := assignProfile(s.result, engine, searches)
	if err != nil {
		return 0, fmt.Errorf("%s does not fit %s: %w", path, dir, err)
	}
	for _, e := range entries {
		if err := s.Append(e); err != nil {
			return 0, err
		}
		launches += len(e.Profile.Launches)
	}
	_, err = s.Finish()
	return launches, err
}

// parseProfile reads the page raw of Nsight Compute as CSV: a row of names, a row of units and a row for each launch.
// It returns the launches of each search, which follow one of the kernel wake; those before the first one are kernel 1.
func parseProfile(data []byte) (searches [][]Launch, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment = '=' // ==PROF== and ==WARNING==
	names, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("want CSV of Nsight Compute: %w", err)
	}
	kernel := slices.Index(names, "Kernel Name")
	if kernel < 0 || slices.Contains(names, "Metric Name") {
		return nil, errors.New("want a column for each metric; write it with ncu --csv --page raw --print-units base")
	}
	units, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the row of units is missing: %w", err)
	}
	columns, some := make([]int, len(profileMetrics)), false
	for i, m := range profileMetrics {
		at := slices.Index(names, m.name)
		if columns[i] = at; at < 0 {
			continue
		}
		if some = true; units[at] != m.unit {
			return nil, fmt.Errorf("%s is in %q, want %q; write it with ncu --print-units base", m.name, units[at], m.unit)
		}
	}
	if !some {
		return nil, errors.New("none of the metrics of docs/cuda.md is in it; give them to ncu with --metrics")
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return searches, nil
		}
		if err != nil {
			return nil, err
		}
		l := Launch{}
		l.Kernel, _, _ = strings.Cut(row[kernel], "(")
		if l.Kernel == "wake" {
			searches = append(searches, nil)
			continue
		}
		last := len(searches) - 1
		if last < 0 {
			continue
		}
		for k, m := range profileMetrics {
			if columns[k] < 0 {
				continue
			}
			value, err := strconv.ParseFloat(strings.ReplaceAll(row[columns[k]], ",", ""), 64)
			if err != nil {
				continue // n/a
			}
			*m.of(&l) = new(value * m.scale)
		}
		searches[last] = append(searches[last], l)
	}
}

// IdleSearches is how many untimed searches from a vertex without neighbors precede all others (Kernel1.Idle).
const IdleSearches = 5

// assignProfile gives the searches of a profile to the roots of an engine: the last ones, after those that are untimed.
// A level has as many launches as its engine counted; later ones, which only end a search, are left out.
func assignProfile(r Result, engine string, searches [][]Launch) (out []Entry, err error) {
	runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run Run) bool {
		return len(run.Roots) == 0 || engine != "" && run.Engine.Name != engine
	})
	if len(runs) != 1 {
		return nil, Usage("the record has %d such runs with searches, want one engine on one graph; name it with --engine",
			len(runs))
	}
	run, untimed := runs[0], r.Plan.WarmUps
	if run.Idle != 0 {
		untimed += IdleSearches
	}
	if len(searches) != untimed+len(run.Roots) || run.Sessions != 1 || run.Energy != nil {
		return nil, fmt.Errorf("the profile has %d searches, want %d untimed ones and %d roots; profile the same command, "+
			"without --energy and without a resume", len(searches), untimed, len(run.Roots))
	}
	for k, root := range run.Roots {
		launches, err := launchesOfLevels(root.Levels, searches[untimed+k])
		if err != nil {
			return nil, fmt.Errorf("search %d: %w", k, err)
		}
		out = append(out, Entry{Engine: run.Engine.Name, GraphID: run.GraphID, Profile: &Profile{k, launches}})
	}
	return out, nil
}

// launchesOfLevels gives launches to the levels of a search, if the engine counted those of each level, or if there is
// one for each.
func launchesOfLevels(levels []plugins.Level, all []Launch) ([]Launch, error) {
	used := 0
	for i, level := range levels {
		n := 1
		counter := slices.IndexFunc(level.Counters, func(c plugins.Counter) bool { return c.Name == plugins.KernelLaunches })
		if counter >= 0 {
			n = int(level.Counters[counter].Value)
		} else if len(all) != len(levels) {
			return all, nil
		}
		if n < 0 || n > len(all)-used {
			return nil, fmt.Errorf("level %d has %d kernel launches in the record, but the profile has %d of the search's "+
				"left; profile all kernels of the search", i, n, len(all)-used)
		}
		for k := used; k < used+n; k++ {
			all[k].Level = &i
		}
		used += n
	}
	return all[:used], nil
}
