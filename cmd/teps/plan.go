package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins/find"
)

// planFlags are the flags of `teps run` that make a harness.Plan, as a user writes them.
type planFlags struct {
	Engine     []string
	Scale      string
	EdgeFactor int
	Seed1      uint64
	Seed2      uint64
	Roots      int
	Validate   string
	WarmUps    int
	Timeout    time.Duration
	Energy     time.Duration
	Meter      []string
	Set        []string
	Checksum   []string
}

func (f *planFlags) register(flags *pflag.FlagSet) {
	d := harness.DefaultPlan()
	flags.StringSliceVar(&f.Engine, "engine", defaultEngines(), "engines: names or paths of programs and libraries, as [LABEL=]ENGINE[:OPTION=VALUE]...")
	flags.StringVar(&f.Scale, "scale", strconv.Itoa(d.Scales[0]), "log2 of the number of vertices: 18, 16-20 or 16,18,20")
	flags.IntVar(&f.EdgeFactor, "edgefactor", d.EdgeFactor, "tuples per vertex")
	flags.Uint64Var(&f.Seed1, "seed1", d.Seed1, "first seed of the generator")
	flags.Uint64Var(&f.Seed2, "seed2", d.Seed2, "second seed of the generator")
	flags.IntVar(&f.Roots, "roots", d.Roots, "searches per engine and scale")
	flags.StringVar(&f.Validate, "validate", "all", "how many searches to validate: all, none or a number")
	flags.IntVar(&f.WarmUps, "warmup", d.WarmUps, "untimed searches before the first timed one")
	flags.DurationVar(&f.Timeout, "timeout", d.Timeout, "longest that one call of an engine may take")
	flags.DurationVar(&f.Energy, "energy", d.Energy, "measure energy: search around the roots for so long, metered, after the timed searches (60s for GreenGraph500)")
	flags.StringArrayVar(&f.Meter, "meter", nil, "power meter, as SOURCE... (repeatable; default: all that this machine has; see teps machine)")
	flags.StringArrayVar(&f.Set, "set", nil, "set an option of an engine: ENGINE.OPTION=VALUE (repeatable; see teps engines)")
	flags.StringArrayVar(&f.Checksum, "checksum", nil, "refuse an outside engine with another SHA-256: ENGINE=HEX (repeatable)")
}

// plan turns the texts into a plan.
func (f *planFlags) plan() (harness.Plan, error) {
	p := harness.DefaultPlan()
	p.EdgeFactor, p.Seed1, p.Seed2 = f.EdgeFactor, f.Seed1, f.Seed2
	p.Roots, p.WarmUps, p.Timeout = f.Roots, f.WarmUps, f.Timeout
	p.Energy, p.Meters = f.Energy, f.Meter
	var err error
	if p.Scales, err = parseScales(f.Scale); err != nil {
		return p, err
	}
	if p.Validate, err = parseValidate(f.Validate); err != nil {
		return p, err
	}
	p.Engines = nil
	for _, text := range f.Engine {
		spec, err := parseEngine(text)
		if err != nil {
			return p, err
		}
		p.Engines = append(p.Engines, spec)
	}
	for _, text := range f.Set {
		key, value, ok := strings.Cut(text, "=")
		engine, option, dotted := strings.Cut(key, ".")
		if !ok || !dotted || engine == "" || option == "" {
			return p, harness.Usage("--set %q: want ENGINE.OPTION=VALUE, such as cpu.threads=2", text)
		}
		spec, err := named(p.Engines, engine, "--set "+text)
		if err != nil {
			return p, err
		}
		if spec.Options == nil {
			spec.Options = map[string]string{}
		}
		spec.Options[option] = value
	}
	for _, text := range f.Checksum {
		engine, sum, ok := strings.Cut(text, "=")
		if !ok {
			return p, harness.Usage("--checksum %q: want ENGINE=HEX with the 64 digits that sha256sum prints", text)
		}
		spec, err := named(p.Engines, engine, "--checksum "+text)
		if err != nil {
			return p, err
		}
		if spec.Checksum, err = parseChecksum(*spec, sum); err != nil {
			return p, harness.Usage("--checksum %s: %w", text, err)
		}
	}
	return p, p.Check()
}

// parseChecksum reads the checksum that an outside engine is to have.
func parseChecksum(spec harness.EngineSpec, sum string) (string, error) {
	switch {
	case len(sum) != 64 || strings.Trim(strings.ToLower(sum), "0123456789abcdef") != "":
		return "", harness.Usage("checksum %q: want the 64 digits that sha256sum prints", sum)
	case spec.Path == "":
		return "", harness.Usage("engine %s is built in; only outside programs have a checksum", spec.Name)
	}
	return strings.ToLower(sum), nil
}

func named(engines []harness.EngineSpec, name, where string) (*harness.EngineSpec, error) {
	var names []string
	for i := range engines {
		if engines[i].Name == name {
			return &engines[i], nil
		}
		names = append(names, engines[i].Name)
	}
	return nil, harness.Usage("%s: this run has no engine %s; it has %s", where, name, strings.Join(names, ", "))
}

// parseEngine reads [LABEL=]ENGINE[:OPTION=VALUE]..., where ENGINE is a name, or a path if it holds a separator or a dot.
func parseEngine(text string) (harness.EngineSpec, error) {
	named, options, _ := strings.Cut(text, ":")
	label, engine, labelled := strings.Cut(named, "=")
	if !labelled {
		engine = named
	}
	spec, err := parseProgram(text, engine)
	if err != nil {
		return spec, err
	}
	if labelled {
		if strings.Trim(label, labelLetters) != "" || label == "" {
			return spec, harness.Usage("--engine %s: a label is made of letters, digits, - and _", text)
		}
		spec.Name = label
	}
	if options == "" {
		return spec, nil
	}
	spec.Options = map[string]string{}
	for option := range strings.SplitSeq(options, ":") {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" {
			return spec, harness.Usage("--engine %s: want OPTION=VALUE after a colon, such as distributed:partition=1d", text)
		}
		spec.Options[name] = value
	}
	return spec, nil
}

// parseProgram says which engine a name or a path is. text is the whole of what the user wrote.
func parseProgram(text, engine string) (harness.EngineSpec, error) {
	var spec harness.EngineSpec
	switch {
	case engine == "":
		return spec, harness.Usage("--engine %q names no engine; see teps engines", text)
	case isPath(engine):
		path, err := filepath.Abs(engine)
		if err != nil {
			return spec, harness.Usage("--engine %s: %w", engine, err)
		}
		if err := checkProgram(path); err != nil {
			return spec, err
		}
		spec = harness.EngineSpec{Name: engineLabel(path), Path: path}
	default:
		spec = harness.EngineSpec{Name: engine, Builtin: engine}
		if builtin(engine) == nil {
			path, found, err := findEngine(engine)
			if err != nil {
				return spec, err
			}
			if !found {
				return spec, harness.Usage("there is no engine %s; built in: %s; teps engines shows where others are looked for; any can be named by its path, such as ./%s",
					engine, strings.Join(builtinNames(), ", "), engine)
			}
			spec = harness.EngineSpec{Name: engine, Path: path}
		}
	}
	return spec, nil
}

// isPath says whether an engine is named by its path.
func isPath(engine string) bool { return strings.ContainsAny(engine, "/\\.") }

const labelLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// engineLabel names an outside engine after its file: teps-engine-cuda is cuda, libmine.so is mine.
func engineLabel(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if name = strings.TrimPrefix(name, "teps-engine-"); find.Library(path) {
		name = strings.TrimPrefix(name, "lib")
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(labelLetters, r) {
			return r
		}
		return '-'
	}, name)
	if name == "" {
		return "engine"
	}
	return name
}

// checkProgram refuses a path that cannot be an engine's program.
func checkProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return harness.Usage("engine %s: %w", path, err)
	case info.IsDir():
		return harness.Usage("engine %s is a folder; name the program in it", path)
	case !info.Mode().IsRegular():
		return harness.Usage("engine %s is no ordinary file; name the engine's program", path)
	case info.Mode()&0o111 == 0 && !find.Library(path):
		return harness.Usage("engine %s is not executable; chmod +x it if it is the engine's program", path)
	}
	return nil
}

func parseScales(text string) ([]int, error) {
	var scales []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(strings.TrimSpace(low))
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(strings.TrimSpace(high))
		}
		if err != nil || last < first || last-first > 64 {
			return nil, harness.Usage("--scale %q: want a number, a range or a list: 18, 16-20 or 16,18,20", text)
		}
		for s := first; s <= last; s++ {
			scales = append(scales, s)
		}
	}
	return scales, nil
}

func parseValidate(text string) (int, error) {
	switch text {
	case "all":
		return harness.AllRoots, nil
	case "none":
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, harness.Usage("--validate %q: want all, none or a number of searches", text)
	}
	return n, nil
}

// describePlan is the first line of a run.
func describePlan(p harness.Plan) string {
	var engines []string
	for _, e := range p.Engines {
		engines = append(engines, e.Name)
	}
	text := fmt.Sprintf("%s, scale %v, edge factor %d, %d roots", strings.Join(engines, ", "), p.Scales, p.EdgeFactor, p.Roots)
	if p.Energy > 0 {
		text += fmt.Sprintf(", energy over %v", p.Energy)
	}
	return text
}
