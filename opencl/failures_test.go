// SPDX-License-Identifier: Apache-2.0

package opencl

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
)

// A driver that fails leads to one line that says what to do, and is not called again once its device is lost.
func TestFailures(t *testing.T) {
	if _, err := driver.Devices(); err != nil {
		t.Skip(err)
	}
	library := filepath.Join(t.TempDir(), "libfailing.so")
	out, err := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-o", library, "testdata/failing.c",
		"-Wl,--no-as-needed", "-l:libOpenCL.so.1", "-ldl").CombinedOutput()
	if err != nil {
		t.Skipf("needs gcc and an OpenCL library: %v: %s", err, out)
	}
	for _, c := range []struct {
		call              string
		code, after, late int
		want              string // after the wrapped error
	}{
		{"clBuildProgram", -11, 0, 0, "unavailable: engine is not available here: "},
		{"clCreateBuffer", -4, 6, 0, "memory: kernel 1: order: label of each vertex: "},
		{"clCreateBuffer", -5, 6, 0, "memory: kernel 1: order: label of each vertex: "},
		{"clEnqueueNDRangeKernel", -4, 6, 0, "memory: kernel 1: order: the OpenCL device "},
		{"clEnqueueReadBuffer", -5, 9, 2, "s, and a watchdog has probably stopped them"},
		{"clEnqueueReadBuffer", -5, 6, 0, "lost: kernel 1: "},
		{"clFinish", -36, 0, 0, "lost: kernel 1: tuples to the device: the OpenCL device "},
		{"clFinish", -14, 8, 0, "lost: the OpenCL device "},
		{"clReleaseMemObject", -36, 4, 0, "lost: kernel 1: "},
	} {
		t.Run(fmt.Sprint(c.call, c.code), func(t *testing.T) {
			number := func(name string, n int) string { return fmt.Sprintf("FAIL_%s=%d", name, n) }
			out, err := withDriver(t, "^TestFailure$", library, "FAIL_CALL="+c.call, number("CODE", c.code),
				number("AFTER", c.after), number("LATE", c.late))
			_, line, found := strings.Cut(out, "FAILURE ")
			line, _, _ = strings.Cut(line, "\nEND")
			if err != nil || !found || !strings.Contains(line, c.want) || strings.Contains(line, "\n") {
				t.Errorf("%v: got %q, want one line with %q; output:\n%s", err, line, c.want, out)
			}
		})
	}
}

// TestFailure builds and searches with the failing driver.
func TestFailure(t *testing.T) {
	needsDriver(t)
	devices, err := driver.Devices()
	if err != nil {
		t.Fatal(err)
	}
	err = searchSome(t, tuned(devices[0]), "kron:7", "auto")
	kind := "other"
	for name, is := range map[string]error{
		"unavailable": plugins.ErrUnavailable, "memory": plugins.ErrMemory, "lost": plugins.ErrNotConstructed,
	} {
		if errors.Is(err, is) {
			kind = name
		}
	}
	fmt.Printf("FAILURE %s: %v\nEND\n", kind, err)
}
