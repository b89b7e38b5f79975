package reports

import "slices"

// part is a chapter of a report: what it shows, its figures, and the table that holds the same numbers.
type part struct {
	title    string
	says     string // what a reader should see, in a sentence or two
	figures  []*figure
	table    tableView
	folded   []tableView // further tables, for whoever opens them
	wide     bool        // the table is too wide to stand beside the figures
	always   bool        // shown for its table even without a figure
	together bool        // worth showing for runs of several records at once
}

// parts are the chapters about runs, in the order in which they are shown; those with nothing to show are left out. A new
// kind of figure is one line here: page, Markdown, files and pictures follow.
func (p pen) parts(runs []labelled, references []Reference) []part {
	all := []part{
		p.scalePart(runs, references),
		p.rootsPart(runs),
		p.directionsPart(runs),
		p.constructionPart(runs),
		p.scalingPart(runs),
		p.ranksPart(runs),
		p.energyPart(runs, references),
	}
	return slices.DeleteFunc(all, func(c part) bool {
		return len(c.figures) == 0 && !(c.always && len(c.table.Rows) > 0)
	})
}

func (p pen) scalePart(runs []labelled, references []Reference) part {
	c := part{
		title: "Search rate over the size of the graph", table: ratesTable(runs), together: true,
		says: "The harmonic mean is the number that Graph500 ranks by; the box holds half of the roots.",
	}
	if f := overScale(p, runs, references); f != nil {
		c.figures = []*figure{f}
	}
	return c
}

func (p pen) rootsPart(runs []labelled) part {
	return part{
		title: "Search rate of the single roots", figures: overRoots(p, runs), table: timesTable(runs),
		says: "Roots differ in how their levels grow: the spread belongs to the result as much as the mean.",
	}
}

func (p pen) directionsPart(runs []labelled) part {
	shares := directionShares(runs)
	return part{
		title: "Top-down and bottom-up", figures: overDirections(p, shares), table: directionsTable(shares), wide: true,
		says: "A search begins top-down, and goes bottom-up where most vertices are still to be found: there a vertex needs one parent only.",
	}
}

func (p pen) constructionPart(runs []labelled) part {
	c := part{
		title: "Kernel 1: time and memory", table: constructionTable(runs), wide: true, together: true,
		says: "Kernel 1 makes the engine’s graph out of the tuples. It is timed once, and stands beside the rates because what it prepares is what makes searches fast.",
	}
	if f := overConstruction(p, runs); f != nil {
		c.figures = []*figure{f}
	}
	return c
}

func (p pen) scalingPart(runs []labelled) part {
	lines := scalingLines(runs)
	return part{
		title: "Scaling over threads and ranks", figures: overWorkers(p, lines), table: scalingTable(lines), together: true,
		says: "A line is one engine on one machine, with the same options but for the number of its workers. Speed-up and efficiency are against the line’s own smallest number of workers.",
	}
}

func (p pen) ranksPart(runs []labelled) part {
	ranked := rankedRuns(runs)
	return part{
		title: "Ranks: where the time goes and what is sent", figures: overPhases(p, ranked), table: ranksTable(ranked), wide: true,
		says: "Messages and bytes are counted; what they would take in a network is a model’s, and says so.",
	}
}

func (p pen) energyPart(runs []labelled, references []Reference) part {
	meters := metersTable(runs)
	meters.Name = "Meters"
	return part{
		title: "Energy: search rate per watt", figures: overEnergy(p, runs, references), table: energyTable(runs), folded: []tableView{meters}, wide: true, always: true,
		says: "The rate of a loop of searches over the mean power of the same interval. What a meter leaves out is not in its watts: component power is no system power.",
	}
}
