package reports

import "strings"

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

// Facts are named values under a heading.
type Facts struct {
	Name  string
	Facts []Fact
}

// Fact is a named value.
type Fact struct{ Name, Value string }

// add appends a fact unless its value is missing.
func (f *Facts) add(name, value string) {
	if value != "" && value != Missing {
		f.Facts = append(f.Facts, Fact{name, value})
	}
}

// Table is the facts as a table.
func (f Facts) Table() Table {
	t := newTable(f.Name+"|", "")
	for _, fact := range f.Facts {
		t.add(fact.Name, fact.Value)
	}
	return t
}
