package reports

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// The page's template holds no logic but "if" and "range": everything here is already text.

type pageView struct {
	Title      string
	Style      template.CSS
	Together   *togetherView // nil for one result
	Results    []resultView
	References *referencesView // nil unless asked for
}

// togetherView shows several results side by side.
type togetherView struct {
	Records tableView // which mark stands for which record
	Parts   []partView
}

type resultView struct {
	ID       string
	Mark     string // of this record among several, or empty
	Headline headlineView
	Runs     tableView
	Parts    []partView
	Details  []runView
	Facts    []factGroup
}

// partView is a part with its figures drawn.
type partView struct {
	Title   string
	Says    string
	Figures []figureView
	Table   tableView
	Folded  []tableView
	Beside  bool // the table stands beside the figures where there is room
}

// referencesView is what others published.
type referencesView struct {
	Table   tableView
	Sources []Reference
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
	Number  int // on its page
	Title   string
	Drawing template.HTML
	Width   int    // pixels that the drawing takes where there is room
	Again   string // the command that makes it again
}

// tableView is a table of texts.
type tableView struct {
	Name string // for those who cannot see where it stands
	Head []cell
	Rows [][]cell
	Note string
}

// Long says that a table scrolls in a place of its own, under its head, so that what follows it can still be found.
func (t tableView) Long() bool { return len(t.Rows) > 32 }

type cell struct {
	Text  string
	Class string // "num", a grade's class, or nothing
}

type factGroup struct {
	Name  string
	Facts []factView
}

type factView struct{ Name, Value string }

// pager makes the views of one page and numbers its figures.
type pager struct {
	pen
	references []Reference
	drawn      int
}

func (p *pager) page(results []harness.Result) (pageView, error) {
	out := pageView{Title: "Graph500 breadth-first search"}
	if len(p.references) > 0 {
		out.References = &referencesView{referencesTable(p.references), p.references}
	}
	if len(results) > 1 {
		together := &togetherView{Records: recordsTable(results)}
		for _, c := range p.parts(labels(results...), p.references) {
			if !c.together {
				continue
			}
			view, err := p.part(c, "DIR...")
			if err != nil {
				return out, err
			}
			together.Parts = append(together.Parts, view)
		}
		out.Together = together
	}
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
	return out, nil
}

func (p *pager) result(r harness.Result) (resultView, error) {
	runs := labels(r)
	drawings := p.draw(runs, p.references)
	best, _ := bestRun(r)
	out := resultView{ID: clean(r.ID, nameRunes), Headline: headline(r), Runs: runsTable(runs), Facts: facts(r)}
	for _, c := range drawings.parts {
		view, err := p.part(c, "DIR")
		if err != nil {
			return out, err
		}
		out.Parts = append(out.Parts, view)
	}
	byRun := map[int]*figure{}
	for _, f := range drawings.levels {
		byRun[f.run] = f.figure
	}
	for i, run := range r.Runs {
		v := runDetails(runs[i].label, run, i == best || len(r.Runs) <= 2)
		if f := byRun[i]; f != nil {
			view, err := p.view(f, "DIR")
			if err != nil {
				return out, err
			}
			v.Levels.Figure = &view
		}
		out.Details = append(out.Details, v)
	}
	return out, nil
}

func (p *pager) part(c part, dirs string) (partView, error) {
	out := partView{Title: c.title, Says: c.says, Table: c.table, Folded: c.folded, Beside: !c.wide}
	out.Table.Name = c.title
	for _, f := range c.figures {
		view, err := p.view(f, dirs)
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, view)
	}
	return out, nil
}

// view draws a figure for the page.
func (p *pager) view(f *figure, dirs string) (figureView, error) {
	drawing, err := f.inline()
	if err != nil {
		return figureView{}, err
	}
	p.drawn++
	again := "teps report " + dirs + " --picture " + f.name
	if len(p.references) > 0 && (f.name == scaleFigure || f.name == perWattFigure) {
		again += " --reference " + referenceNames(p.references)
	}
	return figureView{p.drawn, f.title, drawing, int(f.width.Points() * 1.45), again}, nil
}

// bestRun is the place of the fastest run whose numbers may be called a result.
func bestRun(r harness.Result) (best int, found bool) {
	best = -1
	for i, run := range r.Runs {
		if unofficial(run) == "" && (best < 0 || run.Statistics.TEPS.Mean > r.Runs[best].Statistics.TEPS.Mean) {
			best = i
		}
	}
	return best, best >= 0
}

// headline says what the best run is worth, or why there is none.
func headline(r harness.Result) headlineView {
	best, found := bestRun(r)
	if !found {
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
