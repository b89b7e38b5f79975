package reports

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// The page's template holds no logic but "if" and "range": everything here is already text.

type pageView struct {
	Title    string
	Style    template.CSS
	Together *togetherView // nil for one result
	Results  []resultView
}

// togetherView shows several results side by side.
type togetherView struct {
	Records tableView // which mark stands for which record
	Scale   *figureView
	Rates   tableView
}

type resultView struct {
	ID       string
	Mark     string // of this record among several, or empty
	Headline headlineView
	Runs     tableView
	Scale    *figureView
	Rates    tableView
	Roots    []figureView
	Times    tableView
	Ranks    []figureView // of engines that have ranks
	Traffic  tableView
	Details  []runView
	Facts    []factGroup
}

// headlineView is the best run that may be called a result, and what it is worth.
type headlineView struct {
	Rate    string // GTEPS; empty when there is none
	Of      string // what the rate is of
	Verdict verdict
	Badge   string // of the rules: "compliant", or how many do not hold; empty when there is no rate
	Met     bool   // every rule holds
	Broken  []harness.Check
}

type figureView struct {
	Title   string
	Drawing template.HTML
	Width   int // pixels that the drawing takes where there is room
}

// tableView is a table of texts.
type tableView struct {
	Head []cell
	Rows [][]cell
	Note string
}

type cell struct {
	Text  string
	Class string // "num", a grade's class, or nothing
}

type factGroup struct {
	Name  string
	Facts []factView
}

type factView struct{ Name, Value string }

func (p pen) page(results []harness.Result) (pageView, error) {
	out := pageView{Title: "Graph500 breadth-first search"}
	for i, r := range results {
		view, err := p.result(r)
		if err != nil {
			return out, err
		}
		if len(results) > 1 {
			view.Mark = recordMark(i)
		}
		out.Results = append(out.Results, view)
	}
	if len(results) == 1 {
		return out, nil
	}
	runs := labels(results...)
	out.Together = &togetherView{Records: recordsTable(results), Rates: ratesTable(runs)}
	var err error
	out.Together.Scale, err = view(overScale(p, runs))
	return out, err
}

func (p pen) result(r harness.Result) (resultView, error) {
	runs := labels(r)
	drawings := p.draw(r)
	out := resultView{
		ID: clean(r.ID, nameRunes), Headline: headline(r), Runs: runsTable(runs), Rates: ratesTable(runs), Times: timesTable(runs), Facts: facts(r),
	}
	var err error
	if out.Scale, err = view(drawings.scale); err != nil {
		return out, err
	}
	for _, f := range drawings.roots {
		v, err := view(f)
		if err != nil {
			return out, err
		}
		out.Roots = append(out.Roots, *v)
	}
	for _, f := range drawings.ranks {
		v, err := view(f)
		if err != nil {
			return out, err
		}
		out.Ranks = append(out.Ranks, *v)
	}
	if len(out.Ranks) > 0 {
		out.Traffic = ranksTable(rankedRuns(runs, mostLines))
	}
	byRun := map[int]*figure{}
	for _, f := range drawings.levels {
		byRun[f.run] = f.figure
	}
	for i, run := range r.Runs {
		v := runDetails(runs[i].label, run, len(r.Runs) <= 2)
		if v.Levels.Figure, err = view(byRun[i]); err != nil {
			return out, err
		}
		out.Details = append(out.Details, v)
	}
	return out, nil
}

// view draws a figure for the page; nil stays nil.
func view(f *figure) (*figureView, error) {
	if f == nil {
		return nil, nil
	}
	drawing, err := f.inline()
	if err != nil {
		return nil, err
	}
	return &figureView{f.title, drawing, int(f.width.Points() * 1.45)}, nil
}

// headline picks the fastest run whose numbers may be called a result.
func headline(r harness.Result) headlineView {
	best := -1
	for i, run := range r.Runs {
		if unofficial(run) == "" && (best < 0 || run.Statistics.TEPS.Mean > r.Runs[best].Statistics.TEPS.Mean) {
			best = i
		}
	}
	if best < 0 {
		why := "The record holds no run."
		if len(r.Runs) > 0 {
			why = unofficial(r.Runs[0])
		}
		word := verdict{"NO RESULT", why, bad}
		if len(r.Runs) == 1 {
			word.Word = judge(r.Runs[0]).Word
		}
		return headlineView{Verdict: word}
	}
	run := r.Runs[best]
	out := headlineView{
		Rate:    gteps(run.Statistics.TEPS.Mean),
		Of:      fmt.Sprintf("harmonic mean over %s, %s at scale %d", plural(run.Statistics.NBFS, "root", "roots"), labels(r)[best].label, run.Scale),
		Verdict: judge(run),
		Met:     compliant(run),
		Badge:   "compliant",
		Broken:  cleanChecks(brokenRules(run.Compliance)),
	}
	if cpu := r.Machine.CPU; cpu != "" {
		out.Of += ", host " + clean(cpu, nameRunes)
	}
	if !out.Met {
		out.Badge = ruleCount(run.Compliance)
	}
	return out
}

// ruleCount says how many rules do not hold.
func ruleCount(c harness.Compliance) string {
	if len(c.Rules) == 0 {
		return "rules not checked"
	}
	if n := len(brokenRules(c)); n > 0 {
		return fmt.Sprintf("%d of %s not hold", n, plural(len(c.Rules), "rule does", "rules do"))
	}
	return "not established"
}

func cleanChecks(checks []harness.Check) []harness.Check {
	for i, c := range checks {
		checks[i].Rule, checks[i].Detail = clean(c.Rule, sentenceRunes), clean(c.Detail, sentenceRunes)
	}
	return checks
}

func words(texts ...string) []cell {
	out := make([]cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

func numbers(texts ...string) []cell {
	out := words(texts...)
	for i := range out {
		out[i].Class = "num"
	}
	return out
}

// joined puts the parts that are known into one text.
func joined(separator string, parts ...string) string {
	var known []string
	for _, part := range parts {
		if part != "" && part != missing {
			known = append(known, part)
		}
	}
	if len(known) == 0 {
		return missing
	}
	return strings.Join(known, separator)
}
