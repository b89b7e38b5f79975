// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
)

func TestCheckOption(t *testing.T) {
	for _, c := range []struct {
		option    Option
		good, bad []string
	}{
		{
			Option{Kind: Int, Min: Bound(1), Max: Bound(8)}, []string{"1", "8"},
			[]string{"0", "9", "1.5", "", "x", "99999999999999999999"},
		},
		{Option{Kind: Int}, []string{"-5", "0"}, []string{"1e3"}},
		{Option{Kind: Float, Min: Bound(0)}, []string{"0", "1.5", "1e3"}, []string{"-1", "NaN", "Inf", "", "x"}},
		{Option{Kind: Bool}, []string{"true", "false", "1"}, []string{"yes", ""}},
		{Option{Kind: Choice, Choices: []string{"csr", "packed"}}, []string{"csr", "packed"}, []string{"", "CSR", "other"}},
		{Option{Kind: Text}, []string{"", "anything"}, nil},
		{Option{Kind: "color"}, nil, []string{"red"}},
	} {
		for i, v := range slices.Concat(c.good, c.bad) {
			err := c.option.Check(v)
			if good := i < len(c.good); good != (err == nil) || !good && !errors.Is(err, ErrOption) {
				t.Errorf("%s %q: got %v", c.option.Kind, v, err)
			}
		}
	}
}

func TestResolveFillsDefaultsAndNamesOptions(t *testing.T) {
	options := []Option{
		{Name: "threads", Kind: Int, Default: "4"},
		{Name: "alpha", Kind: Float, Default: "0.5"},
		{Name: "sort", Kind: Bool, Default: "true"},
		{Name: "adjacency", Kind: Choice, Default: "csr", Choices: []string{"csr", "packed"}},
	}
	s, err := Resolve(options, map[string]string{"threads": "2"})
	if err != nil || s.Int("threads") != 2 || s.Float("alpha") != 0.5 || !s.Bool("sort") || s.Text("adjacency") != "csr" ||
		len(s.All()) != 4 {
		t.Errorf("got %v, %v", s.All(), err)
	}
	_, err = Resolve(options, map[string]string{"thread": "2"})
	if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "threads, alpha, sort, adjacency") {
		t.Errorf("unknown option: %v", err)
	}
	must.Fail(t, must.Err(Resolve(nil, map[string]string{"a": ""})), "none")
}

func TestAMissingCountIsNotZero(t *testing.T) {
	type record struct {
		A Count `json:"a,omitzero"`
		B Count `json:"b,omitzero"`
	}
	data, err := json.Marshal(record{B: Counted(0)})
	if err != nil || string(data) != `{"b":0}` {
		t.Fatalf("got %s, %v", data, err)
	}
	back := record{A: Counted(3)}
	err = json.Unmarshal([]byte(`{"a":null,"b":7}`), &back)
	if want := (record{B: Counted(7)}); back != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", back, err, want)
	}
	if err := json.Unmarshal([]byte(`{"a":"x"}`), &back); err == nil {
		t.Error("a text became a number")
	}
}

func TestPhasesOfRanksAreCombined(t *testing.T) {
	got := CombinePhases([][]Phase{
		{{Name: "scan", Elapsed: 2, Bytes: Counted(5)}, {Name: "send", Elapsed: 1}},
		{{Name: "scan", Elapsed: 6, Bytes: Counted(7)}, {Name: "send", Elapsed: 3, Messages: Counted(1)}},
	})
	want := []Phase{
		{Name: "scan", Elapsed: 4, Slowest: 6, Bytes: Counted(12)},
		{Name: "send", Elapsed: 2, Slowest: 3, Messages: Counted(1)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestResolveRefusesCombinations(t *testing.T) {
	options := []Option{
		{Name: "shape", Kind: Choice, Default: "any", Choices: []string{"any", "square"}, Needs: "partition=1d|2d"},
		{Name: "ranks", Kind: Int, Default: "4"},
		{Name: "partition", Kind: Choice, Default: "2d", Choices: []string{"2d", "1d", "0d"}},
		{Name: "rows", Kind: Int, Default: "0", Divides: "ranks", Needs: "partition=2d"},
		{Name: "order", Kind: Choice, Default: "any", Choices: []string{"any", "rows"}, Needs: "shape=any"},
		SwitchOptions("20", "18")[0], SwitchOptions("20", "18")[1],
		{Name: "corner", Kind: Int, Default: "1", Needs: "corner=0|2"}, // of itself: must not hang
	}
	for _, c := range []struct {
		set  map[string]string
		want string // part of the error; empty: none
	}{
		{map[string]string{"ranks": "6", "rows": "3"}, ""},
		{map[string]string{"partition": "1d"}, ""},
		{map[string]string{"partition": "1d", "rows": "0"}, ""},
		{map[string]string{"rows": "3"}, "option rows=3 does not divide ranks=4"},
		{map[string]string{"partition": "1d", "rows": "2"}, "option rows=2 needs partition=2d, but partition is 1d"},
		{map[string]string{"partition": "1d", "shape": "square"}, ""},
		{map[string]string{"partition": "0d", "shape": "square"}, "needs partition=1d|2d, but partition is 0d"},
		{map[string]string{"partition": "0d", "order": "rows"}, "option order=rows needs partition=1d|2d, but"},
		{map[string]string{"direction": "topdown", "alpha": "3"}, "option alpha=3 needs direction=auto"},
		{map[string]string{"direction": "sideways"}, "sideways"},
		{map[string]string{"corner": "2"}, ""},
	} {
		_, err := Resolve(options, c.set)
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, ErrOption) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: got error %v, want %q", c.set, err, c.want)
		}
	}
}

func TestSwitchOptionsDescribeARule(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want graph.Switch
	}{
		{nil, graph.Switch{Alpha: 20, Beta: 18}},
		{map[string]string{"direction": "auto", "alpha": "3", "beta": "0"}, graph.Switch{Alpha: 3}},
		{map[string]string{"direction": "topdown"}, graph.Switch{Alpha: 20, Beta: 18, Steps: graph.OnlyTopDown}},
		{map[string]string{"direction": "bottomup"}, graph.Switch{Alpha: 20, Beta: 18, Steps: graph.OnlyBottomUp}},
	} {
		s, err := Resolve(SwitchOptions("20", "18"), c.set)
		if diff := cmp.Diff(c.want, s.Switch()); diff != "" || err != nil {
			t.Errorf("%v: %v (-want +got):\n%s", c.set, err, diff)
		}
	}
}

func TestLimitsAreDocumented(t *testing.T) {
	data := must.Get(os.ReadFile(filepath.Join("..", "docs", "writing-an-engine.md")))
	_, table, _ := strings.Cut(string(data), "## Limits of answers")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, want := range []string{
		fmt.Sprintf("detail | %d bytes", MaxName), fmt.Sprintf("other text | %d bytes", MaxText),
		fmt.Sprintf("phases | %d of each", MaxList), fmt.Sprintf("ranks of a search | %d |", MaxRanks),
		fmt.Sprintf("levels of a search | %d; more than %d must", MaxLevels, fewLevels),
		fmt.Sprintf("(not stated) to %d", MaxBits), fmt.Sprintf("0 to 2^%v", math.Log2(MaxNumber)),
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table of limits does not contain %q", want)
		}
	}
}

// TestEveryImpossibleAnswerIsRefused breaks each limit by one, and checks that the limit itself is accepted.
func TestEveryImpossibleAnswerIsRefused(t *testing.T) {
	word := func(n int) string { return strings.Repeat("a", n) }
	describe := func(change func(d *Description)) error {
		d := Description{Name: "mine"}
		change(&d)
		return d.Check()
	}
	named := func(name string) error { return Description{Name: name}.Check() }
	summary := func(text string) error { return Description{Name: "a", Summary: text}.Check() }
	memory := func(m Memory) error { return Description{Name: "a", Memory: m}.Check() }
	options := func(o ...Option) error { return Description{Name: "a", Options: o}.Check() }
	bounds := func(low, high float64) error {
		return options(Option{Name: "a", Kind: Int, Min: Bound(low), Max: Bound(high)})
	}
	construct := func(c Construction) error { return c.Check() }
	claims := func(parents, vertices int) error {
		return construct(Construction{Claims: Claims{ParentBits: parents, VertexBits: vertices}})
	}
	parent := slices.Repeat([]graph.Vertex{0}, 100)
	parent[99] = graph.Unreached
	search := func(t Traversal) error { return t.Check(parent) }
	levels := func(n int, l Level) error { return search(Traversal{Levels: slices.Repeat([]Level{l}, n)}) }
	frontiers := func(f int64) error { return levels(2, Level{Frontier: f}) }
	phases := func(p ...Phase) error { return search(Traversal{Phases: p}) }

	for i, c := range []struct {
		err  error
		want string // empty: no error
	}{
		{named(word(128)), ""},
		{named(word(129)), "name is \"" + word(40) + "\"...; want at most 128 bytes, not 129"},
		{named("../../etc"), `name is "../../etc"; want a word`},
		{named("Mine"), `name is "Mine"; want a word`},
		{named(""), `name is "";`},
		{named("a\nb"), `name is "a\nb"; want one line`},
		{named("\xff"), `name is "\xff"; want text in UTF-8`},
		{summary(word(1024)), ""},
		{summary(word(1025)), "at most 1024 bytes, not 1025"},
		{summary("\x1b[2J"), `summary is "\x1b[2J"; want one line`},
		{memory(Memory{Fixed: 1 << 53, PerTuple: 1 << 53}), ""},
		{memory(Memory{Fixed: -1}), "memory.fixed is -1; want a number from 0 to 2^53"},
		{memory(Memory{PerTuple: -1}), "memory.per_tuple is -1"},
		{memory(Memory{PerTuple: math.Inf(1)}), "memory.per_tuple is +Inf"},
		{memory(Memory{PerVertex: math.NaN()}), "memory.per_vertex is NaN"},
		{options(Option{Name: "a", Kind: Choice, Choices: []string{"x", "y"}, Limits: make([]Limits, 1)}),
			"options[0].limits has 1 elements; want none, or one for each of the 2 choices"},
		{describe(func(d *Description) { d.Limits.Vertices = 1<<53 + 1 }), "limits.vertices is 9007199254740993"},
		{describe(func(d *Description) { d.Devices = make([]Device, 256) }), ""},
		{describe(func(d *Description) { d.Devices = make([]Device, 257) }),
			"devices has 257 elements; want at most 256"},
		{options(Option{Name: "a b", Kind: Int}), `options[0].name is "a b"; want a word`},
		{options(Option{Name: "a", Kind: "any"}), `options[0].kind is "any"; want int, float`},
		{options(Option{Name: "a", Kind: Choice, Choices: make([]string, 257)}), "options[0].choices has 257 elements"},
		{options(Option{Name: "a", Kind: Int}, Option{Name: "b", Kind: Int}), ""},
		{options(Option{Name: "a", Kind: Int}, Option{Name: "b", Kind: Int}, Option{Name: "a", Kind: Text}),
			`options[2].name is "a", as of an option before it`},
		{bounds(-2, -2), ""},
		{bounds(3, 2), "options[0].min is 3; want at most max, 2"},
		{bounds(math.NaN(), 2), "options[0].min is NaN; want a number"},
		{bounds(0, math.Inf(1)), "options[0].max is +Inf; want a number"},

		{construct(Construction{Elapsed: -1}), "elapsed_ns is -1"},
		{construct(Construction{Bytes: 1<<53 + 1}), "bytes is 9007199254740993"},
		{construct(Construction{Entries: Counted(-1)}), "entries is -1"},
		{claims(64, 64), ""},
		{claims(0, 65), "vertex_bits is 65; want a number from 0 to 64"},
		{claims(65, 0), "claims: parent_bits or vertex_bits is 65"},
		{claims(-1, 0), "claims.parent_bits is -1"},
		{construct(Construction{Details: []Fact{{Name: "a", Value: "b\nc"}}}), `details[0].value is "b\nc"`},

		{search(Traversal{Elapsed: -1}), "elapsed_ns is -1"},
		{search(Traversal{Ranks: make([]Rank, 4096)}), ""},
		{search(Traversal{Ranks: make([]Rank, 4097)}), "ranks has 4097 elements; want at most 4096"},
		{phases(Phase{Name: word(129)}), "at most 128 bytes, not 129"},
		{phases(Phase{Bytes: Counted(-1)}), "phases[0].bytes is -1"},
		{levels(1<<17+1, Level{}), "levels has 131073 elements; want at most 131072"},
		{levels(100, Level{}), ""},
		{levels(101, Level{}), "levels has 101 elements; want at most 100, because 99 vertices were reached"},
		{Traversal{Levels: make([]Level, 64)}.Check(nil), ""},
		{Traversal{Levels: make([]Level, 65)}.Check([]graph.Vertex{}), "levels has 65 elements; want at most 1"},
		{frontiers(50), ""},
		{frontiers(51), "sum of the frontiers is 102; want at most the 100 vertices"},
		{frontiers(math.MaxInt64), "levels[0].frontier is"},
		{levels(1, Level{Frontier: -5}), "levels[0].frontier is -5"},
		{levels(1, Level{Edges: Counted(-1)}), "levels[0].edges is -1"},
		{levels(1, Level{Direction: 9}), "levels[0].direction is"},
	} {
		switch {
		case (c.err != nil) != (c.want != ""):
			t.Errorf("answer %d: got %v, want %q", i, c.err, c.want)
		case c.err != nil && (!strings.Contains(c.err.Error(), c.want) || len(c.err.Error()) > 300):
			t.Errorf("answer %d: got %.300q, want %q", i, c.err, c.want)
		}
	}
}
