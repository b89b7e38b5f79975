// SPDX-License-Identifier: Apache-2.0

//go:build cuda

package accelerator

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/tepsbench/teps/cuda/driver"
	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
)

// handleKey and countKey tell another process of this test which list to read.
const handleKey, countKey = "TEPS_TEST_HANDLE", "TEPS_TEST_COUNT"

// TestLend has another process read the tuples on the device, twice, and take none from a device that has no room.
func TestLend(t *testing.T) {
	if handle := os.Getenv(handleKey); handle != "" {
		readLent(t, handle)
		return
	}
	a := open(t)
	for _, scale := range []int{10, 20} { // one and several parts of the upload
		recipe := graph.Kronecker{Scale: scale, EdgeFactor: 16, Seed1: 2, Seed2: 3}
		tuples := make([]graph.Edge, recipe.Tuples())
		must.Do(recipe.Generate(t.Context(), tuples, 0, 0))
		lent := must.Get(a.Lend(t.Context(), tuples))
		reader := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLend$", "-test.v")
		reader.Env = append(os.Environ(), handleKey+"="+hex.EncodeToString(lent.Handle),
			countKey+"="+strconv.FormatInt(lent.Count, 10))
		output, err := reader.CombinedOutput()
		if want := fmt.Sprintf("list %016x", fingerprint(tuples)); err != nil || !strings.Contains(string(output), want) {
			t.Fatalf("want %s, got %v:\n%s", want, err, output)
		}
	}
	used := a.memory.Used
	if lent, err := a.Lend(t.Context(), nil); lent != nil || err != nil || a.memory.Used >= used {
		t.Errorf("taking it back: %v, %v, %d bytes used of %d before", lent, err, a.memory.Used, used)
	}
	a.memory.Limit = a.memory.Used + 1<<20
	if lent, err := a.Lend(t.Context(), make([]graph.Edge, 1<<20)); lent != nil || !errors.Is(err, plugins.ErrMemory) {
		t.Errorf("without room: %v, %v, want %v", lent, err, plugins.ErrMemory)
	}
}

// readLent is the other process.
func readLent(t *testing.T, text string) {
	handle := must.Get(hex.DecodeString(text))
	count := must.Get(strconv.Atoi(os.Getenv(countKey)))
	runtime.LockOSThread()
	gpus := must.Get(cu.NumDevices())
	gpu := must.Get(driver.Open(gpus-1, "last", image))
	at := must.Get(driver.OpenMemory(handle))
	tuples := make([]graph.Edge, count)
	must.Do(errors.Join(driver.Read(tuples, at), driver.CloseMemory(at), gpu.Close()))
	fmt.Printf("list %016x\n", fingerprint(tuples))
}
