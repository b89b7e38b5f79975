// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tepsbench/teps/graph"
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
		c.option.Name = "o"
		for _, v := range c.good {
			if err := c.option.Check(v); err != nil {
				t.Errorf("%s %q: %v", c.option.Kind, v, err)
			}
		}
		for _, v := range c.bad {
			if err := c.option.Check(v); !errors.Is(err, ErrOption) || strings.Contains(err.Error(), ErrOption.Error()) {
				t.Errorf("%s %q: got %v, want ErrOption without its text", c.option.Kind, v, err)
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
	if err != nil {
		t.Fatal(err)
	}
	if s.Int("threads") != 2 || s.Float("alpha") != 0.5 || !s.Bool("sort") || s.Text("adjacency") != "csr" ||
		len(s.All()) != 4 {
		t.Errorf("got %v", s.All())
	}
	_, err = Resolve(options, map[string]string{"thread": "2"})
	if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "threads, alpha, sort, adjacency") {
		t.Errorf("unknown option: %v", err)
	}
	if _, err = Resolve(nil, map[string]string{"a": ""}); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("engine without options: %v", err)
	}
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
	if err := json.Unmarshal([]byte(`{"a":null,"b":7}`), &back); err != nil {
		t.Fatal(err)
	}
	if _, known := back.A.Get(); known {
		t.Error("null became a number")
	}
	if n, known := back.B.Get(); n != 7 || !known {
		t.Errorf("7 became %d, %v", n, known)
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
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, s.Switch()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.set, diff)
		}
	}
}
