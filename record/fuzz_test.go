// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

// Each of these runs for as long as wanted: go test ./record -run '^$' -fuzz FuzzJournal -fuzztime 10m

// A journal that can be read reads the same without its torn line, and makes a result that can be written.
func FuzzJournal(f *testing.F) {
	_, official := officialRun()
	for _, entries := range [][]Entry{official[:7], append(official[:4:4], official[68])} {
		text := ""
		for _, e := range entries {
			line := must.Get(json.Marshal(e))
			text += string(line) + "\n"
		}
		f.Add([]byte(text))
	}
	f.Add([]byte("{\"session\":{}}\n{\"engine\":\"one\",\"scale\":6,\"energy\":{\"loop\":{\"elapsed\":10,\"searches\":5," +
		"\"teps\":1e9},\"meters\":[{\"meter\":{\"name\":\"a\",\"scope\":\"node\",\"method\":\"measured\"},\"used\":true," +
		"\"loop\":{\"joules\":1000,\"watts\":100,\"coverage\":1},\"idle\":{\"joules\":9,\"watts\":9,\"coverage\":1}}]}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"end\":{\"state\":\"complete\"}}\n{"))
	// Each number is finite, but not what follows from them.
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"root\":{\"time\":1e-320,\"wall\":1,\"nedge\":9000000000000000000}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"root\":{\"time\":1e308,\"wall\":-1e308,\"nedge\":-5}}\n" +
		"{\"engine\":\"one\",\"scale\":6,\"root\":{\"index\":1,\"time\":1e308,\"wall\":1,\"nedge\":1}}\n"))
	f.Add([]byte("{\"engine\":\"one\",\"scale\":6,\"energy\":{\"loop\":{\"elapsed\":1e300,\"searches\":0,\"teps\":1}," +
		"\"meters\":[{\"meter\":{\"name\":\"a\",\"scope\":\"node\",\"method\":\"measured\"},\"used\":true," +
		"\"loop\":{\"joules\":1,\"watts\":1e300,\"coverage\":1}}]}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, whole, err := parseJournal(nil, data)
		if err != nil {
			return
		}
		if whole > len(data) {
			t.Fatalf("%d whole bytes of %d", whole, len(data))
		}
		again, rest, err := parseJournal(nil, data[:whole])
		if err != nil || rest != whole || len(again) != len(entries) {
			t.Fatalf("the whole part reads differently: %d entries, %v", len(again), err)
		}
		plan := somePlan()
		plan.Engines = plan.Engines[:1]
		r, err := replay(Manifest{Plan: plan}, entries)
		if err != nil {
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("the result cannot be written: %v", err)
		}
	})
}

// A record of any three files is read, or refused in one line.
func FuzzRecord(f *testing.F) {
	dir := f.TempDir()
	write := func(name string, data []byte) error { return os.WriteFile(filepath.Join(dir, name), data, 0o600) }
	s := must.Get(Create(filepath.Join(dir, "seed"), NewManifest(nil, somePlan(), someSoftware, someMachine)))
	must.Get(s.Finish())
	s.Close()
	var seed [3][]byte
	for i, name := range []string{ManifestFile, JournalFile, ResultFile} {
		seed[i] = must.Get(os.ReadFile(filepath.Join(s.Dir(), name)))
	}
	f.Add(seed[0], seed[1], seed[2])
	f.Add(seed[0], seed[1], []byte(nil))
	f.Add(seed[0], seed[1], []byte(`{"id":"","journal_bytes":-1}`))
	f.Add([]byte(`{"schema":"`+strings.Repeat("\x85", 5000)+`"}`), seed[1], []byte(nil)) // an error quotes it
	f.Fuzz(func(t *testing.T, manifest, journal, result []byte) {
		if write(ManifestFile, manifest) != nil || write(JournalFile, journal) != nil || write(ResultFile, result) != nil {
			t.Fatal("the files cannot be written")
		}
		if len(result) == 0 {
			os.Remove(filepath.Join(dir, ResultFile))
		}
		r, err := Load(dir)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || len(text) > 2000 {
				t.Fatalf("an error of %d bytes, or of several lines: %.500q", len(text), text)
			}
			return
		}
		if _, err := json.Marshal(r); err != nil {
			t.Fatalf("the result cannot be written: %v", err)
		}
	})
}
