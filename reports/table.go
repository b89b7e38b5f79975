package reports

import (
	"slices"
	"strings"
)

// Table is a table of texts.
type Table struct {
	Name string // for readers who cannot see where it stands; also the summary of a folded table
	Head []Cell
	Rows [][]Cell
	Note string
}

// Long reports whether a table should scroll in a place of its own.
func (t Table) Long() bool { return len(t.Rows) > 32 }

// Cell is a text in a table.
type Cell struct {
	Text  string
	Class string // "num", a grade's class, "why" for a text that wraps, or empty
}

// newTable makes a table without rows. Columns are separated by bars; those that begin with # hold numbers.
func newTable(columns, note string) Table {
	t := Table{Note: note}
	for column := range strings.SplitSeq(columns, "|") {
		cell := Cell{Text: column}
		if head, numeric := strings.CutPrefix(column, "#"); numeric {
			cell = Cell{head, "num"}
		}
		t.Head = append(t.Head, cell)
	}
	return t
}

// add appends a row. A cell has the class of its column.
func (t *Table) add(texts ...string) {
	row := make([]Cell, len(texts))
	for i, text := range texts {
		row[i] = Cell{text, t.Head[i].Class}
	}
	t.Rows = append(t.Rows, row)
}

// style sets the class of a cell of the last row.
func (t *Table) style(column int, class string) { t.Rows[len(t.Rows)-1][column].Class = class }

// dropEmpty removes the columns without a value.
func (t *Table) dropEmpty() {
	for i := len(t.Head) - 1; i >= 0; i-- {
		empty := func(row []Cell) bool { return row[i].Text == "" || row[i].Text == Missing }
		if slices.ContainsFunc(t.Rows, func(row []Cell) bool { return !empty(row) }) {
			continue
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for k, row := range t.Rows {
			t.Rows[k] = slices.Delete(row, i, i+1)
		}
	}
}

// newFacts makes a table of names and values under a heading.
func newFacts(name string) Table {
	t := newTable(name+"|", "")
	t.Name = name
	return t
}

// fact appends a name and its value unless the value is missing.
func (t *Table) fact(name, value string) {
	if value != "" && value != Missing {
		t.add(name, value)
	}
}
