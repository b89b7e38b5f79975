// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/record"
)

// planFlags are the flags of `teps run` that make a plan. Fields with a YAML name are also fields of a sweep file.
type planFlags struct {
	engine     []string
	scale      string
	Graph      values        `yaml:"graph"`
	EdgeFactor int           `yaml:"edgefactor"`
	Seed1      uint64        `yaml:"seed1"`
	Seed2      uint64        `yaml:"seed2"`
	Roots      int           `yaml:"roots"`
	Validate   string        `yaml:"validate"`
	WarmUps    int           `yaml:"warmup"`
	Timeout    time.Duration `yaml:"timeout"`
	Energy     time.Duration `yaml:"energy"`
	Meter      values        `yaml:"meter"`
	HostDevice string        `yaml:"host-device"`
	regenerate bool
	set        []string
	checksum   []string
}

func (f *planFlags) register(flags *pflag.FlagSet) {
	d := record.DefaultPlan()
	flags.StringSliceVar(&f.engine, "engine", defaultEngines(),
		"engines: names or paths, as [LABEL=]ENGINE[:OPTION=VALUE]...")
	flags.Lookup("engine").DefValue = strings.Join(defaultEngines(), ", ")
	flags.StringVar(&f.scale, "scale", strconv.Itoa(d.Scales[0]),
		"log2 of the number of vertices: 18, 16-20 or 16,18,20")
	flags.StringArrayVar((*[]string)(&f.Graph), "graph", nil,
		"search this graph: a generator or a file (repeatable)")
	flags.IntVar(&f.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&f.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&f.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.IntVar(&f.Roots, "roots", d.Roots, "searches per engine and graph")
	flags.StringVar(&f.Validate, "validate", "all", "searches to validate: all, none or a number")
	flags.IntVar(&f.WarmUps, "warmup", d.WarmUps, "untimed searches before the first timed one")
	flags.DurationVar(&f.Timeout, "timeout", d.Timeout, "limit for one call of an engine")
	flags.DurationVar(&f.Energy, "energy", d.Energy,
		"measure energy for this long after the timed searches (60s for GreenGraph500)")
	flags.StringArrayVar((*[]string)(&f.Meter), "meter", nil,
		"power meter to read (repeatable; default: every meter of this machine; see teps machine --help)")
	flags.StringVar(&f.HostDevice, "host-device", "auto",
		"where to generate and validate: cuda, cpu, auto (cuda if available), or a program")
	flags.BoolVar(&f.regenerate, "regenerate", false,
		"do not store the tuples; regenerate them on demand, for scales beyond this memory (not compliant)")
	flags.StringArrayVar(&f.set, "set", nil,
		"set an option: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	flags.StringArrayVar(&f.checksum, "checksum", nil,
		"refuse an outside engine with another SHA-256: ENGINE=HEX (repeatable)")
}

// settings is the plan without its engines. With scaled, the user gave scales; otherwise a graph replaces the default.
func (f *planFlags) settings(scaled bool) (p record.Plan, err error) {
	p = record.DefaultPlan()
	p.EdgeFactor, p.Seed1, p.Seed2 = f.EdgeFactor, f.Seed1, f.Seed2
	p.Roots, p.WarmUps, p.Timeout = f.Roots, f.WarmUps, f.Timeout
	p.Energy, p.Meters, p.Regenerate = f.Energy, f.Meter, f.regenerate
	if p.Scales = []int{}; scaled || len(f.Graph) == 0 {
		p.Scales, err = parseScales(f.scale)
	}
	for _, text := range f.Graph {
		if err == nil {
			err = p.AddGraph(text)
		}
	}
	if err == nil {
		p.Validate, err = parseValidate(f.Validate)
	}
	return p, err
}

// plan turns the flags into a checked plan. Outside engines are started to ask for their names.
func (f *planFlags) plan(
	ctx context.Context, engines catalog, host harness.Host, scaled bool) (record.Plan, error) {
	p, err := f.settings(scaled)
	if err == nil && f.Energy == 0 && len(f.Meter) > 0 {
		err = usage("--meter requires --energy, such as --energy 60s")
	}
	if err == nil {
		p.HostDevice, err = hostDevice(ctx, f.HostDevice, host)
	}
	if err == nil {
		p.Engines, err = f.engines(ctx, engines, host)
	}
	if err != nil {
		return p, err
	}
	return p, p.Check()
}

func (f *planFlags) engines(ctx context.Context, engines catalog, host harness.Host) ([]record.EngineSpec, error) {
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
	for i := range chosen {
		chosen[i].name(ctx, host)
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
	var specs []record.EngineSpec
	for _, c := range chosen {
		specs = append(specs, c.EngineSpec)
	}
	return specs, nil
}

func parseScales(text string) (scales []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(strings.ReplaceAll(part, " ", ""), "-")
		if !ranged {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || last < first || last-first > 64 {
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
