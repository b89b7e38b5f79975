// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/serial"
)

// withQueue is the catalog of this program and one more engine. Adding an engine to teps takes a line like this.
func withQueue() catalog {
	return append(builtins(), builtin{"queue", serial.New})
}

// withPainter is what the processes of engines serve.
func withPainter() catalog {
	return append(withQueue(), builtin{"painter", painter}, builtin{"shouter", shouter})
}

// painter is an engine that describes itself with sequences that control a terminal.
func painter() plugins.Engine {
	return plugins.New(func() (plugins.Description, error) {
		return plugins.Description{
			Name: "painter", Version: "1\x1b[2J", Summary: "clears\x1b[2Jthe screen\aand more\r",
			Unavailable: "no\x1b]0;title\a", Devices: []plugins.Device{{Kind: "cpu", Name: "\u009bred"}},
			Options: []plugins.Option{{Name: "color", Kind: plugins.Text, Meaning: "\x1b[31mred"}},
		}, nil
	}, func(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
		return plugins.Built{}, errors.New("never called")
	})
}

// shouter is an engine that fails with a sequence that controls a terminal.
func shouter() plugins.Engine {
	return plugins.New(func() (plugins.Description, error) {
		return plugins.Description{}, errors.New("no\x1b[2J device")
	}, func(context.Context, plugins.Input, plugins.Settings) (plugins.Built, error) {
		return plugins.Built{}, errors.New("never called")
	})
}

func TestAddedEngineIsListedAndRun(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"engines"}, "Textbook search"},
		{[]string{"run", "--engine", "queue", "--scale", "8", "--set", "queue.work=hybrid",
			"--out", filepath.Join(t.TempDir(), "run")}, " 64/64 "},
	} {
		var out bytes.Buffer
		code := execute(t.Context(), withQueue(), c.args, &out, &out)
		if code != exitValid || !strings.Contains(out.String(), c.want) {
			t.Errorf("teps %s: exit code %d, want %q in\n%s", strings.Join(c.args, " "), code, c.want, &out)
		}
	}
}
