// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"
	"strings"

	"github.com/tepsbench/teps/record"
)

// Table is a table of texts.
type Table struct {
	Name string // for readers who cannot see where it stands; also the summary of a folded table
	Head []Cell
	Rows [][]Cell
	Keys []RowKey // of the rows that can be compared with others on a page; empty, or one for each row
	Note string
}

// Long reports whether a table scrolls on a page.
func (t Table) Long() bool { return len(t.Rows) > 20 }

// RowKey names a row of a table: the engine as tables of several runs show it, and the graph.
type RowKey struct {
	Engine string
	Graph  record.GraphID
}

// Cell is a text in a table.
type Cell struct {
	Text  string
	Class string // words for style sheets: "num", a grade's class, "why" for a text that wraps, "whole" for one never cut
}

// NewTable makes a table without rows. Columns are separated by bars; those that begin with # hold numbers.
func NewTable(columns, note string) Table {
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

// Range is the head of the column of the slowest and the fastest rate.
const Range = "min … max"

// NewRunTable makes a table for runs on graphs. The column graph holds numbers if all graphs are scales.
func NewRunTable[E interface{ On() record.GraphID }](runs []E, columns, note string) Table {
	if !slices.ContainsFunc(runs, func(run E) bool { return run.On().Source != "" }) {
		columns = strings.Replace(columns, "graph|", "#scale|", 1)
	}
	return NewTable(columns, note)
}

// Add appends a row. A cell has the class of its column.
func (t *Table) Add(texts ...string) {
	row := make([]Cell, len(texts))
	for i, text := range texts {
		row[i] = Cell{text, t.Head[i].Class}
	}
	t.Rows = append(t.Rows, row)
}

// Compare makes the last row one that can be compared with others by its rate, and by the quotient of other columns.
func (t *Table) Compare(key RowKey, rate int, others ...int) {
	t.Keys = append(t.Keys, key)
	t.Style(rate, "num compared")
	for _, column := range others {
		t.Style(column, "num quotient")
	}
}

// MarkBest marks the fastest of several runs on a graph in a column of rates. The table has a row for each run.
func (t *Table) MarkBest(runs []Summary, column int) {
	best, rows := map[record.GraphID]int{}, map[record.GraphID]int{}
	for i, run := range runs {
		first, known := best[run.GraphID]
		if rows[run.GraphID]++; run.Rate() > 0 && (!known || run.Rate() > runs[first].Rate()) {
			best[run.GraphID] = i
		}
	}
	for graph, i := range best {
		if rows[graph] > 1 {
			t.Rows[i][column].Class += " best"
		}
	}
}

// Best reports whether a cell is marked.
func (c Cell) Best() bool { return strings.HasSuffix(c.Class, " best") }

// Style sets the class of a cell of the last row.
func (t *Table) Style(column int, class string) { t.Rows[len(t.Rows)-1][column].Class = class }

// filter keeps some columns. It changes no copy of the table.
func (t *Table) filter(keep func(column int) bool) {
	kept := func(row []Cell) (out []Cell) {
		for i, cell := range row {
			if keep(i) {
				out = append(out, cell)
			}
		}
		return out
	}
	head, rows := kept(t.Head), make([][]Cell, len(t.Rows))
	for k, row := range t.Rows {
		rows[k] = kept(row)
	}
	t.Head, t.Rows = head, rows
}

// Remove removes the columns with these heads.
func (t *Table) Remove(heads ...string) {
	t.filter(func(i int) bool { return !slices.Contains(heads, t.Head[i].Text) })
}

// DropEmpty removes the columns without a value.
func (t *Table) DropEmpty() {
	t.filter(func(i int) bool {
		return slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[i].Text != "" && row[i].Text != Missing })
	})
}

// DropShared removes a column that is the same in all of several rows.
func (t *Table) DropShared(column int) {
	differs := func(row []Cell) bool { return row[column] != t.Rows[0][column] }
	if len(t.Rows) > 1 && !slices.ContainsFunc(t.Rows, differs) {
		t.filter(func(i int) bool { return i != column })
	}
}
