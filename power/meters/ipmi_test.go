// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tepsbench/teps/power"
)

const dcmi = `
    Instantaneous power reading:                   220 Watts
    Minimum during sampling period:                 18 Watts
    Maximum during sampling period:                384 Watts
    Average power reading over sample period:      211 Watts
    IPMI timestamp:                           Fri Nov 20 16:00:00 2026
    Sampling period:                          00000001 Seconds.
    Power reading state is:                   activated

`

func TestParseDCMI(t *testing.T) {
	if w, err := parseDCMI(dcmi); w != 220 || err != nil {
		t.Errorf("got %v W, %v, want 220 W", w, err)
	}
	for out, want := range map[string]string{
		"Instantaneous power reading: 0 Watts\nPower reading state is: deactivated\n": "try: ipmitool dcmi power activate",
		"Instantaneous power reading: 0 Watts\nPower reading state is: activated\n":   "reports 0 W, which cannot be right",
		"Could not open device at /dev/ipmi0 or /dev/ipmi/0: Permission denied\n":     "denied (run as root, or give",
		"DCMI request failed because: Invalid command (c1)\n":                         "(the controller cannot report power)",
		"":                   "ipmitool printed: nothing",
		"Get Device ID\nhuh": "ipmitool printed: Get Device ID",
	} {
		if w, err := parseDCMI(out); w != 0 || !contains(err, want) {
			t.Errorf("%q: got %v W, %v, want %s", out, w, err, want)
		}
	}
}

// script writes a shell script and returns its path.
func script(t *testing.T, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIPMIAsksItsTool(t *testing.T) {
	m := emptyMachine(t)
	bin := t.TempDir()
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin)
	absent := func(want string) {
		t.Helper()
		if meters, err := m.open(ipmiSource()); len(meters) != 0 || !contains(err, want) {
			t.Errorf("got %d meters, %v, want %s", len(meters), err, want)
		}
	}
	absent("there is no /dev/ipmi0")
	m.write("dev/ipmi0", "")
	absent("apt-get install ipmitool")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+path)
	script(t, bin, "ipmitool", "echo 'Power reading state is: deactivated'; exit 1")
	absent("is deactivated")
	script(t, bin, "ipmitool", `[ "$*" = "dcmi power reading" ] && cat <<END`+dcmi+"END\n")
	meters, err := m.open(ipmiSource())
	if len(meters) != 1 {
		t.Fatalf("got %d meters, %v, want 1", len(meters), err)
	}
	i := meters[0].Info()
	if i.Scope != power.Node || i.Period != time.Second || i.MinInterval != time.Second || i.Step != 1 {
		t.Errorf("%+v", i)
	}
	if w := only(t, meters[0]); w != 220 {
		t.Errorf("got %v W, want 220", w)
	}
	script(t, bin, "ipmitool", "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := meters[0].Read(ctx); !contains(err, "did not answer in time") {
		t.Errorf("a tool that hangs: %v", err)
	}
}
