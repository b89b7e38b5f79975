// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/graph/files"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/record"
)

// planFlags are the flags of `teps run` that make a plan. Fields with a YAML name are also fields of a sweep file.
type planFlags struct {
	engineFlags
	scale      string
	Graph      values        `yaml:"graph"`
	Format     string        `yaml:"format"`
	EdgeFactor int           `yaml:"edgefactor"`
	Seed1      uint64        `yaml:"seed1"`
	Seed2      uint64        `yaml:"seed2"`
	Roots      int           `yaml:"roots"`
	Validate   string        `yaml:"validate"`
	WarmUps    int           `yaml:"warmup"`
	Wake       int           `yaml:"wake"`
	Timeout    time.Duration `yaml:"timeout"`
	Energy     time.Duration `yaml:"energy"`
	Meter      values        `yaml:"meter"`
	HostDevice string        `yaml:"host-device"`
	Kernel     string        `yaml:"kernel"`
	regenerate bool
	cluster    clusterFlags
	rootsFile  string
}

// engineFlags choose engines, their options and their checksums.
type engineFlags struct{ engine, set, checksum []string }

func (f *planFlags) register(flags *pflag.FlagSet) {
	d := record.DefaultPlan()
	engines := defaultEngines()
	flags.StringSliceVar(&f.engine, "engine", engines, "engines: names or paths, as [LABEL=]ENGINE[:OPTION=VALUE]...")
	labels := each(engines, func(engine string) string { return strings.Split(engine, "=")[0] })
	flags.Lookup("engine").DefValue = strings.Join(labels, ", ")
	flags.StringVar(&f.scale, "scale", strconv.Itoa(d.Scales[0]), "log2 of the number of vertices: 18, 16-20 or 16,18,20")
	flags.StringArrayVar((*[]string)(&f.Graph), "graph", nil, "search this graph: a generator or a file (repeatable)")
	registerFormat(flags, &f.Format)
	flags.StringVar(&f.Kernel, "kernel", "bfs", "searches: bfs, sssp (shortest paths), or bfs,sssp")
	flags.IntVar(&f.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&f.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&f.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.IntVar(&f.Roots, "roots", d.Roots, "searches per engine and graph")
	flags.StringVar(&f.rootsFile, "roots-file", "", "search from the vertices in this file, one label a line")
	flags.StringVar(&f.Validate, "validate", "all", "searches to validate: all, none or a number")
	flags.IntVar(&f.WarmUps, "warmup", d.WarmUps, "untimed searches before the first timed one")
	flags.IntVar(&f.Wake, "wake", d.Wake, "untimed searches right before each timed one, to wake the engine, at most")
	flags.DurationVar(&f.Timeout, "timeout", d.Timeout, "limit for one call of an engine")
	flags.DurationVar(&f.Energy, "energy", d.Energy, "then measure energy for this long (60s for GreenGraph500)")
	flags.StringArrayVar((*[]string)(&f.Meter), "meter", nil,
		"power meter to read (repeatable; default: every meter of this machine; see teps machine --help)")
	flags.StringVar(&f.HostDevice, "host-device", "auto",
		"where to generate and validate: cuda, cpu, auto (cuda if available), or a program")
	flags.BoolVar(&f.regenerate, "regenerate", false,
		"do not store the tuples; regenerate them on demand, for scales beyond this memory (not compliant)")
	f.cluster.register(flags)
	flags.StringArrayVar(&f.set, "set", nil, "set an option: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	flags.StringArrayVar(&f.checksum, "checksum", nil,
		"refuse an outside engine with another SHA-256: ENGINE=HEX (repeatable)")
}

// registerFormat adds the option that names the format of files.
func registerFormat(flags *pflag.FlagSet, format *string) {
	flags.StringVar(format, "format", "", "format of the graph's file, if neither its name nor its content says it")
}

// setFormat makes a format that of all files among graphs.
func setFormat(graphs []record.GraphSpec, format string) error {
	if format == "" {
		return nil
	}
	if !slices.Contains(files.Formats(), format) {
		return usage("--format: unknown format %q; the formats are %s", format, strings.Join(files.Formats(), ", "))
	}
	found := false
	for i := range graphs {
		if graphs[i].Path != "" {
			graphs[i].Format, found = format, true
		}
	}
	if !found {
		return usage("--format is the format of a file, and no graph is one")
	}
	return nil
}

// settings is the plan without its engines. With scaled, the user gave scales; otherwise a graph replaces the default.
func (f *planFlags) settings(scaled bool) (p record.Plan, err error) {
	p = record.DefaultPlan()
	p.EdgeFactor, p.Seed1, p.Seed2 = f.EdgeFactor, f.Seed1, f.Seed2
	p.Roots, p.WarmUps, p.Wake, p.Timeout = f.Roots, f.WarmUps, f.Wake, f.Timeout
	p.Energy, p.Meters, p.Regenerate = f.Energy, f.Meter, f.regenerate
	if p.Scales = []int{}; scaled || len(f.Graph) == 0 {
		p.Scales, err = parseScales(f.scale)
	}
	for _, text := range f.Graph {
		if err == nil {
			err = p.AddGraph(text)
		}
	}
	if err == nil && len(p.Scales) == 0 && p.EdgeFactor != record.OfficialEdgeFactor {
		err = usage("the edge factor is that of scales; leave it out, or write --graph kron:SCALE:EDGEFACTOR")
	}
	if err == nil {
		err = setFormat(p.Graphs, f.Format)
	}
	if err == nil {
		p.Validate, err = parseValidate(f.Validate)
	}
	if err == nil {
		p.Kernels, err = record.ParseKernels(f.Kernel)
	}
	if err == nil && f.rootsFile != "" {
		if p.RootLabels, err = readRoots(f.rootsFile); p.Roots != record.OfficialRoots {
			err = usage("--roots-file has the number of roots; leave out --roots")
		}
		p.Roots = len(p.RootLabels)
	}
	return p, err
}

// readRoots returns the labels in a file, one a line. It ignores empty lines, comments that begin with #, and a byte
// order mark.
func readRoots(path string) (labels []uint64, err error) {
	data, err := regular.Read(path, 1<<25)
	if err != nil {
		return nil, usage("--roots-file: %w", err)
	}
	lines := map[uint64]int{} // by label
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		label, err := strconv.ParseUint(text, 10, 64)
		switch {
		case err != nil:
			return nil, usage("--roots-file %s:%d: %.40q is not a label; want a whole number a line", path, i+1, text)
		case lines[label] > 0:
			return nil, usage("--roots-file %s:%d: label %d is in line %d, too", path, i+1, label, lines[label])
		}
		lines[label], labels = i+1, append(labels, label)
	}
	if len(labels) == 0 {
		return nil, usage("--roots-file %s has no label", path)
	}
	return labels, nil
}

// plan turns the flags into a checked plan. Outside engines are started to ask for their names.
func (f *planFlags) plan(ctx context.Context, engines catalog, host harness.Host, scaled bool) (record.Plan, error) {
	p, err := f.settings(scaled)
	if err == nil {
		p.Cluster, err = f.cluster.cluster()
	}
	if err == nil && f.Energy == 0 && len(f.Meter) > 0 {
		err = usage("--meter requires --energy, such as --energy 60s")
	}
	if err == nil {
		p.HostDevice, err = hostDevice(ctx, f.HostDevice, host)
	}
	if err == nil {
		p.Engines, err = f.engines(ctx, engines, host)
	}
	if err == nil {
		err = p.Check()
	}
	return p, err
}

func (f *engineFlags) engines(ctx context.Context, engines catalog, host harness.Host) ([]record.EngineSpec, error) {
	var chosen []choice
	for _, text := range f.engine {
		c, err := engines.parse(text)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, c)
	}
	for _, text := range f.checksum { // before any engine is started
		name, sum, _ := strings.Cut(text, "=")
		c, err := byName(chosen, name)
		if err != nil || c.Path == "" || !regexp.MustCompile(`^[0-9a-fA-F]{64}$`).MatchString(sum) {
			return nil, usage("--checksum %s: want an outside engine, = and the 64 digits that sha256sum prints", text)
		}
		c.Checksum = strings.ToLower(sum)
	}
	for i := range chosen { // preparing the run reports an error
		if chosen[i].file != "" {
			_, _ = chosen[i].describe(ctx, host)
		}
	}
	for _, text := range f.set {
		key, value, ok := strings.Cut(text, "=")
		name, option, dotted := strings.Cut(key, ".")
		if !ok || !dotted || name == "" || option == "" {
			return nil, usage("--set %q: want ENGINE.OPTION=VALUE, such as cpu.threads=2", text)
		}
		c, err := byName(chosen, name)
		if err != nil {
			return nil, usage("--set %s: %w", text, err)
		}
		c.setOption(option, value)
	}
	return each(chosen, func(c choice) record.EngineSpec { return c.EngineSpec }), nil
}

func parseScales(text string) (scales []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(strings.ReplaceAll(part, " ", ""), "-")
		if !ranged {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err1 == nil && err2 == nil && last < first {
			return nil, usage("scale %s is reversed; write %d-%d", part, last, first)
		}
		if err1 != nil || err2 != nil || last-first > 64 {
			return nil, usage("scale %q: want a number, a range or a list: 18, 16-20 or 16,18,20", text)
		}
		for s := first; s <= last; s++ {
			scales = append(scales, s)
		}
	}
	return scales, nil
}

func parseValidate(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case text == "all":
		return record.AllRoots, nil
	case text == "none":
		return 0, nil
	case err != nil || n < 0:
		return 0, usage("validate %q: want all, none or a number of searches", text)
	}
	return n, nil
}
