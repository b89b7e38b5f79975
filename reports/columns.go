package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// TerminalWidth is how wide tables for a terminal are at most, whatever stands in them.
const TerminalWidth = 100

// Column is a column of a table for a terminal.
type Column struct {
	Head     string
	Left     bool // texts; numbers stand at the right
	Optional bool // left out where there is no room
}

// Columns writes rows under their heads, at most TerminalWidth columns wide. Where there is no room, the longest texts
// give way, with an ellipsis in their middle, because names of variants differ at their ends; then optional columns are
// left out, the last one first; then texts give way to their last few letters. Cells may hold escape sequences of colours only if they are not texts that give way. The error is
// that of w.
func Columns(w io.Writer, columns []Column, rows [][]string) error {
	const gap = 2
	used, widths := fit(columns, rows, gap)
	var b strings.Builder
	line := func(cells func(i int) string, rule bool) {
		var l strings.Builder
		for n, i := range used {
			if n > 0 {
				l.WriteString(strings.Repeat(" ", gap))
			}
			cell := cells(i)
			if columns[i].Left {
				cell = ellipsis(cell, widths[i])
			}
			pad := strings.Repeat(" ", max(widths[i]-text.StringWidthWithoutEscSequences(cell), 0))
			if columns[i].Left {
				l.WriteString(cell + pad)
			} else {
				l.WriteString(pad + cell)
			}
		}
		written := strings.TrimRight(l.String(), " ")
		if rule {
			written = strings.Repeat("─", text.StringWidthWithoutEscSequences(l.String()))
		}
		b.WriteString(written + "\n")
	}
	line(func(i int) string { return columns[i].Head }, false)
	line(func(int) string { return "" }, true)
	for _, row := range rows {
		line(func(i int) string { return row[i] }, false)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reports: write a table: %w", err)
	}
	return nil
}

// fit chooses the columns that are shown, and how wide each is.
func fit(columns []Column, rows [][]string, gap int) (used, widths []int) {
	const short, shortest = 24, 8 // a text that gives way keeps so much, before and after optional columns are left out
	natural := make([]int, len(columns))
	for i, c := range columns {
		used = append(used, i)
		natural[i] = text.StringWidthWithoutEscSequences(c.Head)
		for _, row := range rows {
			natural[i] = max(natural[i], text.StringWidthWithoutEscSequences(row[i]))
		}
	}
	for {
		last := -1 // optional column
		for n, i := range used {
			if columns[i].Optional {
				last = n
			}
		}
		least := short
		if last < 0 {
			least = shortest
		}
		widths = append([]int(nil), natural...)
		total := gap * (len(used) - 1)
		for _, i := range used {
			total += widths[i]
		}
		for total > TerminalWidth {
			widest := -1
			for _, i := range used {
				if columns[i].Left && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			total--
		}
		if total <= TerminalWidth || last < 0 {
			return used, widths
		}
		used = append(used[:last:last], used[last+1:]...)
	}
}

// ellipsis shortens a text to width in its middle. One with escape sequences stays as it is.
func ellipsis(s string, width int) string {
	if text.StringWidthWithoutEscSequences(s) <= width || strings.ContainsRune(s, '\x1b') {
		return s
	}
	head, tail := "", ""
	runes := []rune(s)
	left := width - 1
	for len(runes) > 0 {
		// The end gets two thirds: it is what tells variants apart.
		r, atEnd := runes[0], text.StringWidth(tail) < 2*text.StringWidth(head)+1
		if atEnd {
			r = runes[len(runes)-1]
		}
		if left -= text.RuneWidth(r); left < 0 {
			break
		}
		if atEnd {
			tail, runes = string(r)+tail, runes[:len(runes)-1]
		} else {
			head, runes = head+string(r), runes[1:]
		}
	}
	return head + "…" + tail
}
