package reports

import (
	"slices"
	"strings"
	"testing"
)

func references(t *testing.T, names ...string) []Reference {
	t.Helper()
	all, err := References(names...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryReferenceNamesThePlaceOfItsNumbers(t *testing.T) {
	all := references(t, "all")
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

// A few numbers of each publication, typed a second time from its text.
func TestReferencesHaveThePublishedNumbers(t *testing.T) {
	for _, want := range []struct {
		reference, where, system, graph string
		scale                           int
		row                             ReferenceRow
	}{
		{"kolganov-2018", "table 2", "NVIDIA Tesla P100", "", 26, ReferenceRow{Min: 99, Max: 333}},
		{"kolganov-2018", "table 2", "NVIDIA Tesla P100", "", 30, ReferenceRow{Min: 6.5, Max: 52}},
		{"kolganov-2018", "table 2", "Intel Xeon E5-2699 v3", "", 28, ReferenceRow{Min: 13.1, Max: 18.3}},
		{"kolganov-2018", "table 2", "IBM Power8+ S822LC", "", 30, ReferenceRow{Min: 7.59, Max: 14.8}},
		{"kolganov-2018", "table 3", "NVIDIA Tesla P100", "", 27, ReferenceRow{MTEPSPerWatt: 1235.96}},
		{"kolganov-2018", "table 3", "Intel Xeon Phi 7250 (KNL)", "", 26, ReferenceRow{MTEPSPerWatt: 149.3}},
		{"bisson-2014", "table 2", "1 NVIDIA Tesla K20X", "", 21, ReferenceRow{GTEPS: 1.13}},
		{"bisson-2014", "table 3", "64 NVIDIA Tesla K20X", "com-Friendster", 0, ReferenceRow{GTEPS: 15.68}},
		{"merrill-2012", "table of performance", "NVIDIA Tesla C2050, hybrid, predecessors", "kron_g500-logn20", 20,
			ReferenceRow{GTEPS: 2.5}},
		{"merrill-2012", "table of performance", "CPU, parallel", "rmat.2Mv.128Me", 0, ReferenceRow{GTEPS: 0.70}},
		{"habr-2014", "text", "NVIDIA GTX Titan", "", 19, ReferenceRow{GTEPS: 4.2}},
		{"romeo-2017", "section 3.5.2", "16 NVIDIA K20Xm, ROMEO", "", 21, ReferenceRow{GTEPS: 4.8}},
	} {
		rows := references(t, want.reference)[0].Rows
		i := slices.IndexFunc(rows, func(r ReferenceRow) bool {
			return r.Where == want.where && r.System == want.system && r.Graph == want.graph && r.Scale == want.scale
		})
		if i < 0 {
			t.Errorf("%s has no row of %s at scale %d", want.reference, want.system, want.scale)
			continue
		}
		got := ReferenceRow{GTEPS: rows[i].GTEPS, Min: rows[i].Min, Max: rows[i].Max, MTEPSPerWatt: rows[i].MTEPSPerWatt}
		if got != want.row {
			t.Errorf("%s, %s, scale %d: %+v, want %+v", want.reference, want.system, want.scale, got, want.row)
		}
	}
	if n := len(references(t, "merrill-2012")[0].Rows); n != 13*3+7 {
		t.Errorf("%d rows of Merrill's table, want 13 graphs on three columns and 7 on the fourth", n)
	}
	if n := len(references(t, "kolganov-2018")[0].Rows); n != 28+23+2 {
		t.Errorf("%d rows of Kolganov's tables, want 28 of table 2, 23 of table 3 and 2 means", n)
	}
}

func TestUnknownReferenceIsRejectedWithTheKnownOnes(t *testing.T) {
	if _, err := References("kolganov"); err == nil || !strings.Contains(err.Error(), "kolganov-2018") ||
		!strings.Contains(err.Error(), "all") {
		t.Errorf("got %v", err)
	}
	if got := references(t, "habr-2014", "bisson-2014", "habr-2014"); len(got) != 2 || got[0].Name != "habr-2014" {
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
