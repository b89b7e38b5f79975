package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// scalingLine is one version of an engine with the same options on the same machine, measured with several numbers of workers: of the
// same graph (strong scaling), or of a graph that grows with the workers but for nothing else (weak scaling).
type scalingLine struct {
	name   string // family and size
	family string // engine, version and options that the user set
	weak   bool
	worker string // "thread" or "rank"
	points []scalingPoint
}

// scalingPoint is the run with the median rate of those that agree in everything, and how many they are.
type scalingPoint struct {
	workers int
	run     harness.Run
	repeats int
}

func (s scalingPoint) gteps() float64 { return drawable(s.run).TEPS.Mean / 1e9 }

// speedUp is the rate over that of the line's first point; efficiency divides it by the growth of the workers. In weak
// scaling the graph grows too, so that the rate has to grow with the workers all the same.
func (l scalingLine) speedUp(i int) float64 { return l.points[i].gteps() / l.points[0].gteps() }

func (l scalingLine) efficiency(i int) float64 {
	return l.speedUp(i) * float64(l.points[0].workers) / float64(l.points[i].workers)
}

// workersOf is the number of ranks or threads that a run searched with, as recorded: its ranks if it has any, else the
// option threads, or what the engine says that it came to.
func workersOf(run harness.Run) (n int, worker string) {
	for _, root := range run.Roots {
		if len(root.Ranks) > 0 {
			return len(root.Ranks), "rank"
		}
	}
	if n, err := strconv.Atoi(run.Options["ranks"]); err == nil && n > 0 {
		return n, "rank"
	}
	if n, err := strconv.Atoi(run.Options["threads"]); err == nil && n > 0 {
		return n, "thread"
	}
	if c := run.Construction; c != nil {
		for _, fact := range c.Details {
			if n, err := strconv.Atoi(fact.Value); err == nil && n > 0 && fact.Name == "threads" {
				return n, "thread"
			}
		}
	}
	return 0, ""
}

// engineOf is the engine's own name, whatever the run calls it.
func engineOf(run harness.Run) string {
	name := run.Engine.Builtin
	if name == "" && run.Description != nil {
		name = run.Description.Name
	}
	return cmp.Or(name, run.Engine.Name)
}

// family names an engine and the options that the user set, but for the number of workers. Rows of a grid that the engine
// chose follow from the number; rows that the user chose do not, and stay.
func family(run harness.Run, worker string) string {
	parts := []string{shownName(engineOf(run))}
	for _, option := range slices.Sorted(maps.Keys(run.Engine.Options)) {
		value := run.Engine.Options[option]
		switch {
		case option == worker+"s", option == "partition", option == "rows" && value == "0":
		default:
			parts = append(parts, shownName(option+"="+value))
		}
	}
	if cut := run.Options["partition"]; cut != "" {
		parts = slices.Insert(parts, 1, strings.ToUpper(clean(cut, nameRunes)))
	}
	return strings.Join(parts, " ")
}

// scalingKey is all that the runs of a line have in common.
type scalingKey struct {
	weak                    bool
	worker                  string
	size                    int // scale, or in weak scaling the scale that each worker has a share of
	family, machine         string
	engine, version, sha256 string
	edgeFactor              int
	seed1, seed2            uint64
}

func keyOf(l labelled, worker string) scalingKey {
	k := scalingKey{worker: worker, family: family(l.run, worker), machine: l.machine, engine: engineOf(l.run), sha256: l.run.Engine.Checksum}
	k.edgeFactor, k.seed1, k.seed2 = l.run.Graph.Recipe.EdgeFactor, l.run.Graph.Recipe.Seed1, l.run.Graph.Recipe.Seed2
	if d := l.run.Description; d != nil {
		k.version = d.Version
	}
	return k
}

// scalingLines are the lines with at least two different numbers of workers: first all strong, then all weak. Only runs
// that are complete, without a wrong search, and that say which graph they searched are on a line.
func scalingLines(runs []labelled) []scalingLine {
	var keys []scalingKey
	groups := map[scalingKey]map[int][]harness.Run{} // by number of workers
	add := func(key scalingKey, workers int, run harness.Run) {
		if groups[key] == nil {
			groups[key] = map[int][]harness.Run{}
			keys = append(keys, key)
		}
		groups[key][workers] = append(groups[key][workers], run)
	}
	for _, l := range runs {
		workers, worker := workersOf(l.run)
		if workers == 0 || drawable(l.run) == nil || judge(l.run).Grade == bad || l.run.Graph == nil {
			continue
		}
		key := keyOf(l, worker)
		key.size = l.run.Scale
		add(key, workers, l.run)
		if share := float64(l.run.Scale) - math.Log2(float64(workers)); share == math.Trunc(share) {
			key.weak, key.size = true, int(share)
			add(key, workers, l.run)
		}
	}
	differ := differences(keys)
	keys = slices.DeleteFunc(keys, func(k scalingKey) bool { return len(groups[k]) < 2 })
	taken := map[string]bool{}
	var strong, weak []scalingLine
	for _, key := range keys {
		line := scalingLine{weak: key.weak, worker: key.worker, family: key.familyName(differ)}
		line.name = line.family + ", " + key.graphName(differ)
		for n := 2; taken[line.name]; n++ { // programs of one name and version
			line.name = line.family + ", " + key.graphName(differ) + " #" + strconv.Itoa(n)
		}
		taken[line.name] = true
		for _, workers := range slices.Sorted(maps.Keys(groups[key])) {
			line.points = append(line.points, scalingPoint{workers, medianRun(groups[key][workers]), len(groups[key][workers])})
		}
		if key.weak {
			weak = append(weak, line)
		} else {
			strong = append(strong, line)
		}
	}
	for _, lines := range [][]scalingLine{strong, weak} {
		slices.SortStableFunc(lines, func(a, b scalingLine) int { return strings.Compare(a.name, b.name) })
	}
	return append(strong, weak...)
}

// medianRun is the run with the median rate, of an even number the slower of the two in the middle.
func medianRun(runs []harness.Run) harness.Run {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b harness.Run) int { return cmp.Compare(drawable(a).TEPS.Mean, drawable(b).TEPS.Mean) })
	return runs[(len(runs)-1)/2]
}

// scalingDifferences says what not all runs have in common, so that the names of lines say it.
type scalingDifferences struct{ machine, version, edgeFactor, seeds bool }

func differences(keys []scalingKey) (d scalingDifferences) {
	versions := map[string]string{} // of engines; those of different ones need not agree
	for _, k := range keys {
		first := keys[0]
		d.machine = d.machine || k.machine != first.machine
		d.edgeFactor = d.edgeFactor || k.edgeFactor != first.edgeFactor
		d.seeds = d.seeds || k.seed1 != first.seed1 || k.seed2 != first.seed2
		if other, known := versions[k.engine]; known && other != k.version {
			d.version = true
		}
		versions[k.engine] = k.version
	}
	return d
}

func (k scalingKey) familyName(differ scalingDifferences) string {
	name := k.family
	if differ.version {
		name += " version " + shownName(k.version)
	}
	if differ.machine {
		name += " on " + k.machine
	}
	return name
}

func (k scalingKey) graphName(differ scalingDifferences) string {
	name := fmt.Sprintf("scale %d", k.size)
	if k.weak {
		name = fmt.Sprintf("2%s vertices a %s", superscript(k.size), k.worker)
	}
	if differ.edgeFactor {
		name += fmt.Sprintf(", edgefactor %d", k.edgeFactor)
	}
	if differ.seeds {
		name += fmt.Sprintf(", seeds %d and %d", k.seed1, k.seed2)
	}
	return name
}

// scalingTable holds what the drawings of scaling show.
func scalingTable(lines []scalingLine) tableView {
	t := tableView{
		Head: append(words("scaling", "line"), numbers("workers", "scale", "GTEPS, harmonic", "± deviation", "speed-up", "efficiency")...),
		Note: "Speed-up is the rate over that of the first row of the line, efficiency the speed-up over the growth of the workers. More workers than cores share them. Runs that are not complete or have a wrong search are left out.",
	}
	repeated := anyRepeats(lines)
	if repeated {
		t.Head = append(t.Head, numbers("runs")...)
		t.Note += " " + repeatsNote
	}
	for _, l := range lines {
		kind := "strong"
		if l.weak {
			kind = "weak"
		}
		for i, point := range l.points {
			deviation := missing
			if d := drawable(point.run).TEPS.StdDev; d != nil {
				deviation = significant(*d/1e9, 2)
			}
			row := append(words(kind, l.name), numbers(plural(point.workers, l.worker, l.worker+"s"), strconv.Itoa(point.run.Scale), gteps(point.gteps()*1e9), deviation,
				significant(l.speedUp(i), 3), significant(100*l.efficiency(i), 3)+" %")...)
			if repeated {
				row = append(row, numbers(strconv.Itoa(point.repeats))...)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

const repeatsNote = "Of several runs that agree in everything, the one with the median rate counts."

// anyRepeats says whether a point of the lines stands for several runs.
func anyRepeats(lines []scalingLine) bool {
	return slices.ContainsFunc(lines, func(l scalingLine) bool {
		return slices.ContainsFunc(l.points, func(p scalingPoint) bool { return p.repeats > 1 })
	})
}
