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
			debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20251120153000-abcdefabcdef+dirty"}},
			Software{Version: Version, Commit: "", Compiler: compiler},
		},
		"clean": {
			debug.BuildInfo{Settings: settings("vcs.revision", "abc", "vcs.modified", "false")},
			Software{Version: Version, Commit: "abc", Compiler: compiler},
		},
		"with changes": {
			debug.BuildInfo{Settings: settings("vcs.modified", "true", "vcs.revision", "abc")},
			Software{Version: Version, Commit: "abc+dirty", Compiler: compiler},
		},
		"settings": {
			debug.BuildInfo{Settings: settings("GOAMD64", "v3", "-ldflags", "-X main.token=x", "-tags", "mpi")},
			Software{Version: Version, Compiler: compiler + " GOAMD64=v3 -tags=mpi"},
		},
		"installed": {
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}},
			Software{Version: "1.2.3", Commit: "", Compiler: compiler},
		},
		"changes to nothing": {
			debug.BuildInfo{Settings: settings("vcs.modified", "true")},
			Software{Version: Version, Commit: "", Compiler: compiler},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := softwareOf(&c.info, true); got != c.want {
				t.Errorf("want %+v, got %+v", c.want, got)
			}
		})
	}
	for commit, want := range map[string]string{
		"": "1.0.0 (no commit: built without VCS stamping)", "abc": "1.0.0 (commit abc)",
		"abc+dirty": "1.0.0 (commit abc, modified)",
	} {
		if got := (Software{Version: "1.0.0", Commit: commit}).Build(); got != want {
			t.Errorf("commit %q: %q, want %q", commit, got, want)
		}
	}
	if got := ThisSoftware(); got.Version == "" || !strings.HasPrefix(got.Compiler, compiler) {
		t.Errorf("of this test program: %+v", got)
	}
}
