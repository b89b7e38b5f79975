package reports

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tepsbench/teps/harness"
)

// runsTable sums up every run in a line.
func runsTable(runs []labelled) tableView {
	t := tableView{
		Head: append(append(words("engine"), numbers("scale", "valid roots", "kernel 1", "graph held", "median search", "GTEPS, harmonic", "± deviation")...), words("state", "rules")...),
	}
	for _, r := range runs {
		run := r.run
		construction, held, median, mean, deviation := missing, missing, missing, missing, missing
		if run.Construction != nil {
			construction, held = duration(run.Construction.Elapsed.Seconds()), bytesText(run.Construction.Bytes)
		}
		if s := drawable(run); s != nil {
			median, mean = duration(s.Time.Median), gteps(s.TEPS.Mean)
			if s.TEPS.StdDev != nil {
				deviation = significant(*s.TEPS.StdDev/1e9, 2)
			}
		}
		v := judge(run)
		rules := cell{"compliant", "good"}
		if !compliant(run) {
			rules = cell{ruleCount(run.Compliance), "fair"}
		}
		name := r.label
		if run.Description != nil {
			name = joined(" ", name, clean(run.Description.Version, nameRunes))
		}
		row := append(words(name), numbers(strconv.Itoa(run.Scale), fmt.Sprintf("%d of %d", validatedRoots(run), len(run.Roots)),
			construction, held, median, mean, deviation)...)
		t.Rows = append(t.Rows, append(row, cell{v.Word, v.Class()}, rules))
	}
	return t
}

// recordsTable says which mark stands for which record.
func recordsTable(results []harness.Result) tableView {
	t := tableView{Head: words("", "record", "started", "host", "processor", "teps")}
	for i, r := range results {
		started := missing
		if !r.Started.IsZero() {
			started = r.Started.Format(time.RFC3339)
		}
		t.Rows = append(t.Rows, words(recordMark(i), clean(r.ID, nameRunes), started, clean(r.Machine.Hostname, nameRunes), clean(r.Machine.CPU, nameRunes),
			joined(", ", clean(r.Software.Version, nameRunes), clean(r.Software.Commit, 16))))
	}
	return t
}

// ratesTable holds what the figure over scales draws, in GTEPS.
func ratesTable(runs []labelled) tableView {
	t := tableView{Head: append(words("engine"), numbers("scale", "harmonic mean", "min", "q1", "median", "q3", "max")...), Note: "All in GTEPS; the harmonic mean is the result, the others are order statistics."}
	for _, r := range runs {
		row := words(r.label)
		if s := drawable(r.run); s != nil {
			x := s.TEPS
			row = append(row, numbers(strconv.Itoa(r.run.Scale), gteps(x.Mean), gteps(x.Min), gteps(x.FirstQuartile), gteps(x.Median), gteps(x.ThirdQuartile), gteps(x.Max))...)
		} else {
			row = append(row, numbers(strconv.Itoa(r.run.Scale), missing, missing, missing, missing, missing, missing)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// timesTable says how the searches of a run differ: their times, and the roots at both ends.
func timesTable(runs []labelled) tableView {
	t := tableView{Head: append(words("engine"), numbers("scale", "fastest", "median", "slowest", "ratio", "slowest root", "median tuples")...), Note: "Times of one search on the engine’s clock; the ratio is that of the slowest to the fastest; tuples are those of the component."}
	for _, r := range runs {
		row := append(words(r.label), numbers(strconv.Itoa(r.run.Scale))...)
		s := drawable(r.run)
		if s == nil {
			t.Rows = append(t.Rows, append(row, numbers(missing, missing, missing, missing, missing, missing)...))
			continue
		}
		ratio := missing
		if s.Time.Min > 0 {
			ratio = significant(s.Time.Max/s.Time.Min, 3)
		}
		slowest := missing
		if i, found := slowestRoot(r.run.Roots); found {
			slowest = strconv.FormatInt(int64(r.run.Roots[i].Root), 10)
		}
		tuples := missing
		if finite(s.NEdge.Median) {
			tuples = integer(int64(s.NEdge.Median))
		}
		t.Rows = append(t.Rows, append(row, numbers(duration(s.Time.Min), duration(s.Time.Median), duration(s.Time.Max), ratio, slowest, tuples)...))
	}
	return t
}

// slowestRoot is the place of the search that took longest, of those that the times beside it are taken over: they have a
// count of tuples.
func slowestRoot(roots []harness.RootRecord) (at int, found bool) {
	for i, root := range roots {
		if _, known := rate(root); known && (!found || root.Time > roots[at].Time) {
			at, found = i, true
		}
	}
	return at, found
}

const mostRoots = 2048 // lines of the table of roots

// rootsTable lists every search of a run.
func rootsTable(run harness.Run) tableView {
	t := tableView{Head: append(numbers("#", "root", "time", "GTEPS", "tuples (nedge)", "m with self-loops", "reached", "depth", "host's clock", "validation"), words("verdict")...)}
	if len(run.Roots) > mostRoots {
		t.Note = fmt.Sprintf("The first %s of %s searches; the record holds all.", integer(mostRoots), integer(int64(len(run.Roots))))
	}
	for _, root := range run.Roots[:min(len(run.Roots), mostRoots)] {
		speed, depth, validation := missing, missing, missing
		if teps, known := rate(root); known {
			speed = gteps(teps)
		}
		if root.Depth != nil {
			depth = strconv.Itoa(*root.Depth)
		}
		state := cell{"not validated", "fair"}
		if root.Validated {
			state = cell{"valid", "good"}
			validation = measured(root.Validation)
		}
		if root.Violation != "" || root.Rule != 0 {
			state = cell{fmt.Sprintf("rule %d: %s", root.Rule, clean(root.Violation, sentenceRunes)), "bad why"}
		}
		row := numbers(strconv.Itoa(root.Index), strconv.FormatInt(int64(root.Root), 10), measured(root.Time), speed,
			optional(root.NEdge), optional(root.M), optional(root.Reached), depth, measured(root.Wall), validation)
		t.Rows = append(t.Rows, append(row, state))
	}
	return t
}

// levelsTable lists the levels of one search; columns that nothing was counted for are left out.
func levelsTable(root harness.RootRecord) tableView {
	var edges, timed, sent, phases bool
	inside := 0.0
	for _, level := range root.Levels {
		edges = edges || !level.Edges.IsZero()
		timed = timed || level.Elapsed > 0
		sent = sent || !level.Bytes.IsZero() || !level.Messages.IsZero()
		phases = phases || len(level.Phases) > 0
		inside += level.Elapsed.Seconds()
	}
	// A line is the parts that every search has and those that this one has.
	line := func(head, expanded, looked, times, traffic, parts []cell) []cell {
		out := slices.Concat(head, expanded)
		for _, part := range []struct {
			has   bool
			cells []cell
		}{{edges, looked}, {timed, times}, {sent, traffic}, {phases, parts}} {
			if part.has {
				out = append(out, part.cells...)
			}
		}
		return out
	}
	t := tableView{Head: line(append(numbers("level"), words("direction")...), numbers("vertices expanded"), numbers("entries looked at"),
		numbers("time", "share"), numbers("bytes sent", "messages"), words("phases"))}
	levels := root.Levels[:min(len(root.Levels), mostLevels)]
	for i, level := range levels {
		seconds := level.Elapsed.Seconds()
		t.Rows = append(t.Rows, line(append(numbers(strconv.Itoa(i)), words(level.Direction.String())...), numbers(integer(level.Frontier)), numbers(counted(level.Edges)),
			numbers(duration(seconds), share(seconds, root.Time)), numbers(counted(level.Bytes), counted(level.Messages)), words(phasesText(level.Phases))))
	}
	if len(levels) < len(root.Levels) {
		t.Note = fmt.Sprintf("The first %d of %d levels; the record holds all.", len(levels), len(root.Levels))
	} else if outside := root.Time - inside; timed && outside >= 0 {
		t.Rows = append(t.Rows, line(append(numbers(""), words("outside levels")...), numbers(""), numbers(""),
			numbers(duration(outside), share(outside, root.Time)), numbers("", ""), words("")))
	}
	return t
}

func share(part, whole float64) string {
	percent := 100 * part / whole
	if !finite(part, whole, percent) || whole <= 0 { // a record can hold a level that is 1e300 times its search
		return missing
	}
	return strconv.FormatFloat(percent, 'f', 1, 64) + " %"
}
