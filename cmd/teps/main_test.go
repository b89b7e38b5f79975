package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the command teps for the scripts, and for the engines that it starts: they are the
// same binary.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"teps": main})
}

// TestScripts runs the command as a user would; each script is one file of testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
