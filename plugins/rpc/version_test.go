package rpc

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// An engine that was written for version 1 of the protocol, and kept as it was, still conforms.
func TestTheEngineOfVersion1StillRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program and runs the conformance suite over it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is needed to build the engine")
	}
	program := filepath.Join(t.TempDir(), "teps-engine-version1")
	if out, err := exec.Command("go", "build", "-o", program, "./testdata/version1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newStage(t, HostOptions{})
	enginetest.Test(t, func(ctx context.Context) (plugins.Engine, error) {
		client, err := s.Open(ctx, Program{Name: "version1", Path: program})
		if err != nil {
			return nil, err
		}
		return client, nil
	})
}
