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

// Long reports whether a table should scroll in a place of its own.
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

// NewRunTable makes a table whose first columns are engine and graph, for runs on graphs.
func NewRunTable[E any](runs []E, graph func(E) record.GraphID, columns, note string) Table {
	return NewTable("engine|"+GraphHead(runs, graph)+"|"+columns, note)
}

// GraphHead is the head of a column of graphs: numbers if all are scales.
func GraphHead[E any](runs []E, graph func(E) record.GraphID) string {
	if slices.ContainsFunc(runs, func(run E) bool { return graph(run).Source != "" }) {
		return "graph"
	}
	return "#scale"
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

// Style sets the class of a cell of the last row.
func (t *Table) Style(column int, class string) { t.Rows[len(t.Rows)-1][column].Class = class }

// DropEmpty removes the columns without a value.
func (t *Table) DropEmpty() {
	for i := len(t.Head) - 1; i >= 0; i-- {
		empty := func(row []Cell) bool { return row[i].Text == "" || row[i].Text == Missing }
		if !slices.ContainsFunc(t.Rows, func(row []Cell) bool { return !empty(row) }) {
			t.Drop(i)
		}
	}
}

// DropShared removes a column that is the same in all of several rows.
func (t *Table) DropShared(column int) {
	differs := func(row []Cell) bool { return row[column] != t.Rows[0][column] }
	if len(t.Rows) > 1 && !slices.ContainsFunc(t.Rows, differs) {
		t.Drop(column)
	}
}

// Clone returns a copy whose columns can be dropped.
func (t Table) Clone() Table {
	t.Head, t.Rows = slices.Clone(t.Head), slices.Clone(t.Rows)
	for k, row := range t.Rows {
		t.Rows[k] = slices.Clone(row)
	}
	return t
}

// Remove drops the columns with these heads.
func (t *Table) Remove(heads ...string) {
	for _, head := range heads {
		if i := slices.IndexFunc(t.Head, func(c Cell) bool { return c.Text == head }); i >= 0 {
			t.Drop(i)
		}
	}
}

// Drop removes a column.
func (t *Table) Drop(column int) {
	t.Head = slices.Delete(t.Head, column, column+1)
	for k, row := range t.Rows {
		t.Rows[k] = slices.Delete(row, column, column+1)
	}
}

// NewFacts makes a table of names and values under a heading.
func NewFacts(name string) Table {
	t := NewTable(name+"|", "")
	t.Name = name
	return t
}

// Fact appends a name and its value unless the value is missing.
func (t *Table) Fact(name, value string) {
	if value != "" && value != Missing {
		t.Add(name, value)
	}
}
