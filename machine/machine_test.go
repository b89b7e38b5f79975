// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"runtime"
	"strings"
	"testing"
)

func TestThisIsDescribed(t *testing.T) {
	m := This(t.Context())
	if m.Threads < 1 || !strings.Contains(m.OS, runtime.GOOS) || m.MemoryBytes <= 0 || m.Cores < 1 || m.CPU == "" {
		t.Errorf("got %+v", m)
	}
	if m.CPU != Processor() {
		t.Errorf("the processor is %q, and that of the machine %q", Processor(), m.CPU)
	}
}
