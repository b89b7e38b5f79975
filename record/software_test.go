package record

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestSoftwareOf(t *testing.T) {
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
		"without version control": {
			debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			Software{Version: "devel", Commit: "", Compiler: compiler},
		},
		"clean": {
			debug.BuildInfo{Settings: settings("vcs.revision", "abc", "vcs.modified", "false")},
			Software{Version: "devel", Commit: "abc", Compiler: compiler},
		},
		"with changes": {
			debug.BuildInfo{Settings: settings("vcs.modified", "true", "vcs.revision", "abc")},
			Software{Version: "devel", Commit: "abc+dirty", Compiler: compiler},
		},
		"settings": {
			debug.BuildInfo{Settings: settings("GOAMD64", "v3", "-ldflags", "-X main.token=x", "-tags", "mpi")},
			Software{Version: "devel", Compiler: compiler + " GOAMD64=v3 -tags=mpi"},
		},
		"installed": {
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}},
			Software{Version: "v1.2.3", Commit: "", Compiler: compiler},
		},
		"changes to nothing": {
			debug.BuildInfo{Settings: settings("vcs.modified", "true")},
			Software{Version: "devel", Commit: "", Compiler: compiler},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := softwareOf(&c.info, true); got != c.want {
				t.Errorf("want %+v, got %+v", c.want, got)
			}
		})
	}
	if got := ThisSoftware(); got.Version == "" || !strings.HasPrefix(got.Compiler, compiler) {
		t.Errorf("of this test program: %+v", got)
	}
}
