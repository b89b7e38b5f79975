package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The commands of docs/images/README.md, with another place for their files, must draw the pictures that are committed.
// To draw these again, run the commands.
func TestPicturesAreWhatTheirCommandsDraw(t *testing.T) {
	made := map[string]bool{}
	for line, want := range reportsOf(t, "docs/images/README.md", 4) {
		made[want] = true
		t.Run(filepath.Base(want), func(t *testing.T) {
			got := filepath.Join(t.TempDir(), filepath.Base(want))
			args := append(strings.Fields(strings.TrimSuffix(line, want)), "--out", got)
			if e := run(t, args...); e.code != exitValid {
				t.Fatalf("exit code %d: %s", e.code, e.stderr)
			}
			drawn, err := os.ReadFile(got)
			committed, missing := os.ReadFile(want)
			if err := errors.Join(err, missing); err != nil {
				t.Fatal(err)
			}
			sameDrawing(t, drawn, committed)
		})
	}
	files, err := filepath.Glob("docs/images/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !made[file] {
			t.Errorf("no command of docs/images/README.md makes %s", file)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range regexp.MustCompile(`\]\((docs/images/[^)]+)\)`).FindAllSubmatch(readme, -1) {
		if _, err := os.Stat(string(image[1])); err != nil {
			t.Errorf("README.md shows a picture that is not there: %v", err)
		}
	}
}

// sameDrawing compares two SVG files: texts must agree, numbers may differ by a fiftieth of a point, because another
// processor may round the last digit differently.
func sameDrawing(t *testing.T, got, want []byte) {
	t.Helper()
	number := regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)
	if !bytes.Equal(number.ReplaceAll(got, []byte("0")), number.ReplaceAll(want, []byte("0"))) {
		t.Fatal("differs in more than its numbers: run its command, look at it, and commit it")
	}
	were := number.FindAllString(string(want), -1)
	for i, now := range number.FindAllString(string(got), -1) {
		a, err1 := strconv.ParseFloat(now, 64)
		b, err2 := strconv.ParseFloat(were[i], 64)
		if err1 != nil || err2 != nil || math.Abs(a-b) > 0.02 {
			t.Fatalf("number %d was %s and is %s: run the command, look at it, and commit it", i, were[i], now)
		}
	}
}
