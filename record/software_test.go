// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func TestSoftwareOf(t *testing.T) {
	compiler := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	settings := func(pairs ...string) (list []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for name, c := range map[string]struct {
		info debug.BuildInfo
		want Software
	}{
		"without version control": {
			debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.20251120153000-abcdefabcdef+dirty"}}, Software{},
		},
		"clean": {
			debug.BuildInfo{Settings: settings("vcs.revision", "abc", "vcs.modified", "false")}, Software{Commit: "abc"},
		},
		"with changes": {
			debug.BuildInfo{Settings: settings("vcs.modified", "true", "vcs.revision", "abc")}, Software{Commit: "abc+dirty"},
		},
		"settings": {
			debug.BuildInfo{Settings: settings("GOAMD64", "v3", "-ldflags", "-X main.token=x", "-tags", "mpi")},
			Software{Compiler: compiler + " GOAMD64=v3 -tags=mpi"},
		},
		"installed":          {debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, Software{Version: "1.2.3"}},
		"changes to nothing": {debug.BuildInfo{Settings: settings("vcs.modified", "true")}, Software{}},
	} {
		c.want.Version, c.want.Compiler = cmp.Or(c.want.Version, Version), cmp.Or(c.want.Compiler, compiler)
		must.Equal(t, softwareOf(&c.info, true), c.want, name)
	}
	for commit, want := range map[string]string{
		"": "1.0.0 (no commit: built without VCS stamping)", "abc": "1.0.0 (commit abc)",
		"abc+dirty": "1.0.0 (commit abc, modified)",
	} {
		if got := (Software{Version: "1.0.0", Commit: commit}).Build(); got != want {
			t.Errorf("commit %q: %q, want %q", commit, got, want)
		}
	}
	for program, want := range map[string]string{"": "", "abc": "", "0123456789abcdef": ", program 0123456789ab"} {
		got := Software{Version: "1.0.0", Commit: "abc", Compiler: "go", Program: program}.String()
		must.Equal(t, got, "1.0.0 (commit abc), go"+want, program)
	}
	if got := softwareOf(nil, false); got != (Software{Version: Version, Compiler: compiler}) {
		t.Errorf("without information: %+v", got)
	}
	if got := ThisSoftware(); got.Version == "" || !strings.HasPrefix(got.Compiler, compiler) || len(got.Program) != 64 {
		t.Errorf("of this test program: %+v", got)
	}
}

func TestEnvironmentOf(t *testing.T) {
	got := environmentOf([]string{
		"HOME=/home/a", "PATH=/bin", "GOGC=off", "GOGCX=1", "OMP_NUM_THREADS=4", "OMP=1", "CUDA_VISIBLE_DEVICES=0,1",
		"OMPI_MCA_btl=tcp,self",
		"TEPS_ENGINE_PATH=/opt/a=b", "TEPS_REDFISH_PASSWORD=x", "TEPS_API_TOKEN=x", "TEPS_KEY=x",
		"TEPS_USER=x", "TEPS_REDFISH_URL=https://u:p@h",
		"OMPI_MCA_oob_auth=x", "SLURM_JOB_ID=7", "SLURM_JOB_USER=x", "SLURM_JOB_ACCOUNT=x",
		"AWS_SECRET_ACCESS_KEY=x", "GODEBUG=", "NOTHING",
	})
	want := map[string]string{
		"GOGC": "off", "OMP_NUM_THREADS": "4", "CUDA_VISIBLE_DEVICES": "0,1", "OMPI_MCA_btl": "tcp,self",
		"TEPS_ENGINE_PATH": "/opt/a=b",
		"SLURM_JOB_ID":     "7", "GODEBUG": "",
	}
	must.Equal(t, got, want, "recorded variables")
	must.Equal(t, environmentOf([]string{"HOME=/", "PATH=/bin"}), map[string]string{}, "recorded variables")
}

func TestManifestHasEnvironment(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "8GiB")
	s := newStore(t)
	s.Close()
	r := must.Get(Load(s.Dir()))
	must.Equal(t, r.Environment["GOMEMLIMIT"], "8GiB", r.Environment)
	if s.entries[0].Session.Environment["GOMEMLIMIT"] != "8GiB" {
		t.Error("the session has no environment")
	}
}
