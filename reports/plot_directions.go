package reports

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tepsbench/teps/graph"
)

// directionShare says what the searches of a run did in each direction: means of a search, over the searches that
// recorded levels and are not known to be wrong.
type directionShare struct {
	labelled
	time    float64    // seconds of a search
	seconds [2]float64 // in top-down levels, in bottom-up levels
	levels  [2]float64
	entries [2]float64 // adjacency entries looked at
	counted bool       // entries were counted, in every level of every search
	tuples  float64    // of the component; 0 when not counted
}

// outside is the time of a search that no level accounts for: clearing, output, waiting.
func (d directionShare) outside() float64 { return max(0, d.time-d.seconds[0]-d.seconds[1]) }

// directionShares sums up the runs that timed their levels.
func directionShares(runs []labelled) []directionShare {
	var out []directionShare
	for _, l := range runs {
		if drawable(l.run) == nil {
			continue
		}
		if d, timed := sumDirections(l); timed {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b directionShare) int { return a.run.Scale - b.run.Scale })
	return out
}

func sumDirections(l labelled) (directionShare, bool) {
	d := directionShare{labelled: l, counted: true}
	searches, tupled := 0, 0
	for _, root := range l.run.Roots {
		if root.Broken() || len(root.Levels) == 0 || !finite(root.Time) || root.Time <= 0 {
			continue
		}
		searches++
		d.time += root.Time
		for _, level := range root.Levels {
			k := 0
			if level.Direction == graph.BottomUp {
				k = 1
			}
			d.seconds[k] += max(0, level.Elapsed.Seconds())
			d.levels[k]++
			n, known := level.Edges.Get()
			d.counted = d.counted && known
			d.entries[k] += float64(n)
		}
		if root.NEdge != nil && *root.NEdge > 0 {
			d.tuples += float64(*root.NEdge)
			tupled++
		}
	}
	if searches == 0 || d.seconds[0]+d.seconds[1] <= 0 {
		return d, false
	}
	n := float64(searches)
	d.time /= n
	for k := range 2 {
		d.seconds[k], d.levels[k], d.entries[k] = d.seconds[k]/n, d.levels[k]/n, d.entries[k]/n
	}
	if d.tuples /= n; tupled < searches {
		d.tuples = 0
	}
	// Clocks of levels may add up to a little more than that of the search; far more is a damaged record.
	return d, d.seconds[0]+d.seconds[1] <= 1.5*d.time
}

// shareBars draws a bar across for every row, in parts of a whole, with the percentage in every part that has room.
type shareBars struct {
	pen   pen
	rows  []directionShare
	first float64 // place of the topmost
}

func (s shareBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := (y(1) - y(0)) * 0.32
	for i, row := range s.rows {
		middle := y(s.first - float64(i))
		parts := [3]float64{row.seconds[0], row.seconds[1], row.outside()}
		whole, sum := parts[0]+parts[1]+parts[2], 0.0
		for k, v := range parts {
			from, to := x(100*sum/whole), x(100*(sum+v)/whole)
			sum += v
			c.FillPolygon(shareColor(k), []vg.Point{{X: from, Y: middle - half}, {X: to, Y: middle - half}, {X: to, Y: middle + half}, {X: from, Y: middle + half}})
			style := s.pen.text(8, shareInk)
			text := strconv.FormatFloat(100*v/whole, 'f', 0, 64) + " %"
			if to-from > style.Width(text)+6 {
				style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
				c.FillText(style, vg.Point{X: (from + to) / 2, Y: middle}, text)
			}
		}
	}
}

const (
	shareRow          = 0.3 * vg.Inch
	shareInk      rgb = 0x101010 // on the colours of bars, in both schemes
	outsideLevels rgb = 0xbbbbbb
)

func shareColor(k int) rgb {
	return [...]rgb{palette()[5], palette()[4], outsideLevels}[k]
}

// overDirections draws which share of the time of a search each direction takes, for every run; several figures when
// there are many runs, none when no run timed its levels.
func overDirections(p pen, rows []directionShare) []*figure {
	var out []*figure
	for from := 0; from < len(rows); from += rowsAPage {
		page := rows[from:min(from+rowsAPage, len(rows))]
		shares := p.plot("Share of the time of a search (%)", "")
		m := measure{max: 100}
		m.fit(&shares.X)
		shares.Y.Min, shares.Y.Max = -0.55, float64(len(page))-0.45
		var names plot.ConstantTicks
		for i, row := range page {
			names = append(names, plot.Tick{Value: float64(len(page) - 1 - i), Label: fmt.Sprintf("%s, 2%s", ellipsis(row.label, besideBars), superscript(row.run.Scale))})
		}
		shares.Y.Tick.Marker = names
		shares.Y.Tick.Length = 0
		shares.Add(gridLines{x: true}, shareBars{p, page, float64(len(page) - 1)})
		f := &figure{
			name: "directions", title: "Share of the search time in top-down and bottom-up levels, for each engine and scale",
			width: figureWidth, height: shareRow*vg.Length(len(page)) + 0.75*vg.Inch, pen: p, plots: []*plot.Plot{shares},
			notes:  []string{"Means over the searches of a run. Outside levels: clearing, output and whatever an engine does not count to a level."},
			legend: []entry{colorEntry("top-down", shareColor(0)), colorEntry("bottom-up", shareColor(1)), colorEntry("outside levels", shareColor(2))},
		}
		if len(rows) > rowsAPage {
			f.name = fmt.Sprintf("directions-%d", from/rowsAPage+1)
		}
		out = append(out, f)
	}
	return out
}

// directionsTable holds what the drawing of directions shows, and the entries that each direction looked at where an
// engine counted them.
func directionsTable(rows []directionShare) tableView {
	t := tableView{
		Head: append(words("engine"), numbers("scale", "levels", "of them bottom-up", "time in top-down levels", "in bottom-up levels", "outside levels")...),
		Note: "Means of a search.",
	}
	counted := slices.ContainsFunc(rows, func(d directionShare) bool { return d.counted })
	if counted {
		t.Head = append(t.Head, numbers("entries looked at, top-down", "bottom-up", "a tuple")...)
		t.Note = "Means of a search. Entries are those of adjacency lists that were looked at; top-down alone would look at 2 for every tuple of the component, less where duplicates are dropped."
	}
	for _, d := range rows {
		row := append(words(d.label), numbers(strconv.Itoa(d.run.Scale), significant(d.levels[0]+d.levels[1], 3), significant(d.levels[1], 3),
			duration(d.seconds[0]), duration(d.seconds[1]), duration(d.outside()))...)
		if counted {
			down, up, each := missing, missing, missing
			if d.counted {
				down, up = integer(int64(d.entries[0]+0.5)), integer(int64(d.entries[1]+0.5))
				if d.tuples > 0 {
					each = significant((d.entries[0]+d.entries[1])/d.tuples, 3)
				}
			}
			row = append(row, numbers(down, up, each)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
