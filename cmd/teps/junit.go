package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tepsbench/teps/plugins/enginetest"
)

// JUnit's XML, as far as the programs that read it agree (Jenkins, GitLab, GitHub's actions): a suite with a case for
// each case, its group as the class.

type junitSuites struct {
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Seconds    string          `xml:"time,attr"`
	Time       string          `xml:"timestamp,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Seconds string      `xml:"time,attr"`
	Failure *junitFault `xml:"failure,omitempty"`
	Skipped *junitFault `xml:"skipped,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func newJUnit(engine string, properties ...junitProperty) *junitSuite {
	return &junitSuite{Name: "teps conform " + engine, Time: time.Now().UTC().Format("2006-01-02T15:04:05"), Properties: properties}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.6f", d.Seconds()) }

func (s *junitSuite) add(o enginetest.Outcome) {
	group, name, _ := strings.Cut(o.Case.Name, "/")
	c := junitCase{Class: "teps.conform." + group, Name: name, Seconds: seconds(o.Elapsed)}
	s.Tests++
	switch {
	case o.Err != nil:
		s.Failures++
		c.Failure = &junitFault{Message: printable(o.Case.About), Text: printable(o.Err.Error())}
	case o.Skipped != "":
		s.Skipped++
		c.Skipped = &junitFault{Message: printable(o.Skipped)}
	}
	s.Cases = append(s.Cases, c)
}

// printable leaves out what XML cannot hold, such as the control characters in an engine's last words.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// write replaces the file by the report, as a whole or not at all.
func (s *junitSuite) write(path string, elapsed time.Duration) (err error) {
	s.Seconds = seconds(elapsed)
	data, err := xml.MarshalIndent(junitSuites{Suite: *s}, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".junit-")
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s%s\n", xml.Header, data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("--junit: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}
