package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/shirou/gopsutil/v3/mem"
)

// ThisMachine describes the machine that the host runs on. What every system tells is found here, the rest in
// machine_linux.go (gopsutil, cpuinfo and sysfs) and machine_darwin.go (sysctl). A fact that cannot be found out stays
// at its zero value and is left out of the record; none is guessed.
func ThisMachine(ctx context.Context) Machine {
	m := Machine{
		Threads: runtime.GOMAXPROCS(0), // follows affinity, control groups and the GOMAXPROCS that the user set
		OS:      runtime.GOOS + "/" + runtime.GOARCH,
	}
	m.Hostname, _ = os.Hostname()
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.MemoryBytes = int64(v.Total)
	}
	m.ask(ctx)
	return m
}

// ThisSoftware describes the build of the running program, from what the Go toolchain stamped into it. A build without
// version control (go run, -buildvcs=false) has no commit.
func ThisSoftware() Software {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	s := softwareOf(info)
	s.Program = programSum()
	return s
}

// programSum identifies the running program even where no version control stamped it. Empty: it cannot be read.
func programSum() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func softwareOf(info *debug.BuildInfo) Software {
	s := Software{
		Version:  "devel",
		Compiler: fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH),
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		s.Version = v
	}
	dirty := false
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			s.Commit = setting.Value
		case "vcs.modified":
			dirty = setting.Value == "true"
		}
	}
	if dirty && s.Commit != "" {
		s.Commit += "+dirty"
	}
	return s
}
