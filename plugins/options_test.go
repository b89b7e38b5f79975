package plugins

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestOptionsTakeWhatTheySay(t *testing.T) {
	for _, c := range []struct {
		option    Option
		good, bad []string
	}{
		{Option{Kind: Int, Min: Bound(1), Max: Bound(8)}, []string{"1", "8"}, []string{"0", "9", "1.5", "", "x", "99999999999999999999"}},
		{Option{Kind: Int}, []string{"-5", "0"}, []string{"1e3"}},
		{Option{Kind: Float, Min: Bound(0)}, []string{"0", "1.5", "1e3"}, []string{"-1", "NaN", "Inf", "", "x"}},
		{Option{Kind: Bool}, []string{"true", "false", "1"}, []string{"yes", ""}},
		{Option{Kind: Choice, Choices: []string{"csr", "packed"}}, []string{"csr", "packed"}, []string{"", "CSR", "other"}},
		{Option{Kind: Text}, []string{"", "anything"}, nil},
		{Option{Kind: "colour"}, nil, []string{"red"}},
	} {
		c.option.Name = "o"
		for _, v := range c.good {
			if err := c.option.Check(v); err != nil {
				t.Errorf("%s %q: %v", c.option.Kind, v, err)
			}
		}
		for _, v := range c.bad {
			if err := c.option.Check(v); !errors.Is(err, ErrOption) {
				t.Errorf("%s %q: got %v, want ErrOption", c.option.Kind, v, err)
			}
		}
	}
}

func TestSettleFillsDefaultsAndNamesWhatExists(t *testing.T) {
	options := []Option{
		{Name: "threads", Kind: Int, Default: "4"},
		{Name: "alpha", Kind: Float, Default: "0.5"},
		{Name: "sort", Kind: Bool, Default: "true"},
		{Name: "adjacency", Kind: Choice, Default: "csr", Choices: []string{"csr", "packed"}},
	}
	s, err := Settle(options, map[string]string{"threads": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Int("threads") != 2 || s.Float("alpha") != 0.5 || !s.Bool("sort") || s.Text("adjacency") != "csr" || len(s.All()) != 4 {
		t.Errorf("settled to %v", s.All())
	}
	_, err = Settle(options, map[string]string{"thread": "2"})
	if !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), "threads, alpha, sort, adjacency") {
		t.Errorf("unknown option: %v", err)
	}
	if _, err = Settle(nil, map[string]string{"a": ""}); err == nil || !strings.Contains(err.Error(), "none") {
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
	var back record
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
