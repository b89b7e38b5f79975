// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func references(names ...string) []Reference {
	return must.Get(References(names...))
}

func TestEveryReferenceNamesThePlaceOfItsNumbers(t *testing.T) {
	all := references("all")
	if len(all) < 5 {
		t.Fatalf("%d references, want at least 5", len(all))
	}
	for _, r := range all {
		if r.Short == "" || r.Source == "" || r.Date == "" || r.Counting == "" || len(r.Rows) == 0 {
			t.Errorf("%s lacks its source, date, way of counting or rows", r.Name)
		}
		if r.Link != "" && !strings.HasPrefix(r.Link, "https://doi.org/") {
			t.Errorf("%s: %s is not a permanent address", r.Name, r.Link)
		}
		for i, row := range r.Rows {
			switch {
			case row.Where == "" || row.System == "" || row.Of == "":
				t.Errorf("%s, row %d lacks its system, quantity or place", r.Name, i)
			case (row.Scale > 0) != (row.EdgeFactor > 0), row.Scale == 0 && row.Graph == "":
				t.Errorf("%s, row %d lacks the graph", r.Name, i)
			case row.GTEPS <= 0 && row.Max <= 0 && row.MTEPSPerWatt <= 0:
				t.Errorf("%s, row %d has no number", r.Name, i)
			case row.Min > row.Max || row.GTEPS > 0 && row.Max > 0 && (row.GTEPS < row.Min || row.GTEPS > row.Max):
				t.Errorf("%s, row %d: %v is not between %v and %v", r.Name, i, row.GTEPS, row.Min, row.Max)
			}
		}
	}
}

var number = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)

// plain writes all numbers of a text without trailing zeros.
func plain(s string) string {
	return number.ReplaceAllStringFunc(s, func(n string) string {
		x, _ := strconv.ParseFloat(n, 64)
		return Exactly(x)
	})
}

// transcribed is a row as testdata/published-rates.txt has it.
func transcribed(r ReferenceRow) string {
	graph := r.Graph
	if r.Scale > 0 {
		graph = Joined(", ", graph, fmt.Sprintf("scale %d, edge factor %d", r.Scale, r.EdgeFactor))
	}
	if million := r.Edges / 1e6; million > 0 && math.Mod(r.Edges, 1e5) == 0 {
		graph += ", " + Exactly(million) + " million edges"
	} else if million > 0 {
		graph += ", " + Exactly(r.Edges) + " edges"
	}
	counted, rates, watts := "", r.rates(), ""
	if r.PerTuple != 1 || strings.HasPrefix(r.Graph, "wikipedia") {
		counted = Exactly(r.PerTuple) + " edges a tuple"
	}
	if rates != Missing {
		rates += " GTEPS"
	}
	if r.MTEPSPerWatt > 0 {
		watts = Exactly(r.MTEPSPerWatt) + " MTEPS/W"
	}
	return Joined(" | ", r.Where, r.System, graph, counted, rates, watts)
}

// Every number of the references is that of a transcription of the publications, which quotes the row or the sentence.
func TestReferencesHaveThePublishedNumbers(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/published-rates.txt"))
	var want, got []string
	quoted := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = plain(strings.TrimSpace(line))
		if strings.HasPrefix(line, ">") {
			clear(quoted)
			for _, n := range number.FindAllString(line, -1) {
				quoted[n] = true
			}
		}
		fields := strings.Split(line, " | ")
		if len(fields) < 3 {
			continue
		}
		want = append(want, line)
		for _, n := range number.FindAllString(strings.Join(fields[2:], " "), -1) {
			if !quoted[n] {
				t.Errorf("%s is not in the quotation above the line %q", n, line)
			}
		}
	}
	for _, r := range references("all") {
		for _, row := range r.Rows {
			got = append(got, plain(transcribed(row)))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	must.Equal(t, got, want, "rows of the transcription")
}

func TestUnknownReferenceIsRejectedWithTheKnownOnes(t *testing.T) {
	must.Fail(t, must.Err(References("kolganov")), "kolganov-2018", "all")
	if got := references("habr-2014", "bisson-2014", "habr-2014"); len(got) != 2 || got[0].Name != "habr-2014" {
		t.Errorf("got %d references", len(got))
	}
}

func TestReferenceOfOneSystem(t *testing.T) {
	if one, err := References("kolganov-2018:P100"); err != nil || len(one) != 1 ||
		slices.ContainsFunc(one[0].Rows, func(r ReferenceRow) bool { return !strings.Contains(r.System, "P100") }) {
		t.Errorf("rows of one system: %v, %v", one, err)
	}
	if _, err := References("kolganov-2018:P200"); err == nil {
		t.Error("no error for a system that no row has")
	}
}
