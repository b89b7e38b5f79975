package harness

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestThisMachineIsDescribed(t *testing.T) {
	m := ThisMachine(t.Context())
	if m.Threads < 1 || !strings.Contains(m.OS, runtime.GOOS) || m.MemoryBytes <= 0 || m.Cores < 1 || m.CPU == "" {
		t.Errorf("got %+v", m)
	}
}

func TestSoftwareOfABuild(t *testing.T) {
	compiler := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	settings := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	cases := map[string]struct {
		info debug.BuildInfo
		want Software
	}{
		"without version control": {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, Software{"devel", "", compiler}},
		"clean":                   {debug.BuildInfo{Settings: settings("vcs.revision", "abc", "vcs.modified", "false")}, Software{"devel", "abc", compiler}},
		"with changes":            {debug.BuildInfo{Settings: settings("vcs.modified", "true", "vcs.revision", "abc")}, Software{"devel", "abc+dirty", compiler}},
		"installed":               {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, Software{"v1.2.3", "", compiler}},
		"changes to nothing":      {debug.BuildInfo{Settings: settings("vcs.modified", "true")}, Software{"devel", "", compiler}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := softwareOf(&c.info); got != c.want {
				t.Errorf("want %+v, got %+v", c.want, got)
			}
		})
	}
	if got := ThisSoftware(); got.Version == "" || got.Compiler != compiler {
		t.Errorf("of this test: %+v", got)
	}
}
