package main

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/plugins/enginetest"
)

// What a program that reads JUnit's XML finds in a report.
func TestJUnitReportSaysWhatFailed(t *testing.T) {
	cases := enginetest.Cases()
	suite := newJUnit("odd", junitProperty{"path", `/a "b" <c>`})
	suite.add(enginetest.Outcome{Case: cases[0], Elapsed: 1500 * time.Millisecond})
	suite.add(enginetest.Outcome{Case: cases[1], Elapsed: time.Millisecond, Err: errors.New("wanted <a> & got \x1b[31mb\xff\n  | last words")})
	suite.add(enginetest.Outcome{Case: cases[2], Skipped: "unavailable: no GPU"})
	dir := t.TempDir()
	file := filepath.Join(dir, "out.xml")
	if err := suite.write(file, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read junitSuites
	if err := xml.Unmarshal(data, &read); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	s := read.Suite
	if s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || s.Seconds != "2.000000" || s.Properties[0].Value != `/a "b" <c>` {
		t.Errorf("the suite: %+v", s)
	}
	group, name, _ := strings.Cut(cases[1].Name, "/")
	failed := s.Cases[1]
	if failed.Class != "teps.conform."+group || failed.Name != name || failed.Failure == nil ||
		failed.Failure.Text != "wanted <a> & got [31mb?\n  | last words" || failed.Failure.Message != cases[1].About {
		t.Errorf("the case that failed: %+v, %+v", failed, failed.Failure)
	}
	if s.Cases[0].Failure != nil || s.Cases[0].Skipped != nil || s.Cases[0].Seconds != "1.500000" || s.Cases[2].Skipped.Message != "unavailable: no GPU" {
		t.Errorf("the other cases: %+v", s.Cases)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left beside the report: %v", left)
	}
	if err := suite.write(dir, 0); err == nil || !strings.Contains(err.Error(), "--junit") {
		t.Errorf("a folder in the place of the file: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(dir)); len(left) != 1 {
		t.Errorf("left beside the folder: %v", left)
	}
}
