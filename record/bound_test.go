package record

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
)

// An engine that answers with too much gets a record that is short, says so, and is read again as it was written.
func TestWhatAnEngineReportsIsBounded(t *testing.T) {
	long := strings.Repeat("aé", 40<<10)
	depth := 7
	ranks := slices.Repeat([]plugins.Rank{{Phases: slices.Repeat([]plugins.Phase{{Name: long}}, 5000)}}, 5000)
	for i := range ranks {
		ranks[i].Phases = slices.Clone(ranks[i].Phases[:1+i%10])
	}
	ranks[17].Phases = slices.Repeat([]plugins.Phase{{Name: "wait"}}, 100000)
	for name, c := range map[string]struct {
		entry Entry
		cut   []string
	}{
		"levels beyond the depth": {
			Entry{Root: &RootRecord{Depth: &depth, Levels: make([]plugins.Level, 300000)}},
			[]string{"levels: the first 10 of 300000 are kept"},
		},
		"a few levels more": {Entry{Root: &RootRecord{Depth: &depth, Levels: make([]plugins.Level, depth+3)}}, nil},
		"levels of a search that is not validated": {
			Entry{Root: &RootRecord{Levels: make([]plugins.Level, 300000)}},
			[]string{"levels: the first 4096 of 300000 are kept"},
		},
		"ranks with phases": {
			Entry{Root: &RootRecord{Ranks: ranks}},
			[]string{"ranks: the first 4096 of 5000 are kept", "phases: the first 4096 of 100000 are kept"},
		},
		"a violation": {Entry{Root: &RootRecord{Violation: long}}, nil},
		"an error":    {Entry{End: &End{State: Failed, Failure: strings.Repeat("x", 3<<20)}}, nil},
		"a description": {Entry{Kernel1: &Kernel1{
			Description: plugins.Description{Name: long, Version: long, Summary: long,
				Devices: make([]plugins.Device, 10000)},
			Options:      map[string]string{long: long, "threads": "2"},
			Construction: plugins.Construction{Details: []plugins.Fact{{Name: "a", Value: long}}},
		}}, []string{"devices: the first 4096 of 10000 are kept"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			c.entry.Engine, c.entry.Scale = "one", 6
			if err := s.Append(c.entry); err != nil {
				t.Fatal(err)
			}
			r, err := s.Finish()
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(journalOf(s)); err != nil || info.Size() > maxLine+2000 {
				t.Errorf("the journal has %d bytes, %v", info.Size(), err)
			}
			loaded, err := Load(s.Dir())
			if err != nil || !loaded.Checksummed() {
				t.Fatalf("the record cannot be read: %v", err)
			}
			run := loaded.Runs[0]
			if !slices.Equal(run.Cut[:min(len(run.Cut), len(c.cut))], c.cut) || len(run.Cut) < len(c.cut) {
				t.Errorf("the record says %q, want %q", run.Cut, c.cut)
			}
			if text := fmt.Sprintf("%+v", run); strings.Contains(text, long) || !strings.Contains(text, "... (cut, ") &&
				c.cut == nil && name != "a few levels more" {
				t.Errorf("a text is not cut: %.2000s", text)
			}
			if got := len(r.Runs[0].Roots); (got == 1) != (c.entry.Root != nil) {
				t.Errorf("%d roots", got)
			}
		})
	}
}

func TestAnOrdinaryEntryIsNotCut(t *testing.T) {
	_, entries := officialRun()
	for _, e := range entries {
		if _, err := e.line(); err != nil || e.Cut != nil {
			t.Errorf("%+v: cut %q, %v", e, e.Cut, err)
		}
	}
}
