package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins/enginetest/testdata/serial"
)

// withSerial is the catalog of this program and one more engine. Adding an engine to teps takes a line like this.
func withSerial() catalog {
	return append(builtins(), builtin{"serial", serial.New})
}

func TestAddedEngineIsListedAndRun(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"engines"}, "One queue"},
		{[]string{"run", "--engine", "serial", "--scale", "8", "--set", "serial.order=backward",
			"--out", filepath.Join(t.TempDir(), "run")}, " 64/64 "},
	} {
		var out bytes.Buffer
		code := execute(t.Context(), withSerial(), c.args, &out, &out)
		if code != exitValid || !strings.Contains(out.String(), c.want) {
			t.Errorf("teps %s: exit code %d, want %q in\n%s", strings.Join(c.args, " "), code, c.want, &out)
		}
	}
}
