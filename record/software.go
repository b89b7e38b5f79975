// SPDX-License-Identifier: Apache-2.0

package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is the version under development, as in CHANGELOG.md. A build of a tag has the version of the tag.
const Version = "0.3.0-dev"

// release matches the versions of tags; those of commits are like v0.1.1-0.20251120153000-abc.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// Software is the build of the host.
type Software struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`  // with "+dirty" if the tree had changes
	Compiler string `json:"compiler"`          // go1.26.1 linux/amd64, with settings such as GOAMD64=v3
	Program  string `json:"program,omitempty"` // SHA-256 of the running program
}

// Build names the version and the commit: 0.2.0 (commit 1d2ad54f..., modified).
func (s Software) Build() string {
	commit := "no commit: built without VCS stamping"
	if revision, dirty := strings.CutSuffix(s.Commit, "+dirty"); revision != "" {
		commit = "commit " + revision
		if dirty {
			commit += ", modified"
		}
	}
	return fmt.Sprintf("%s (%s)", s.Version, commit)
}

func (s Software) String() string {
	text := s.Build() + ", " + s.Compiler
	if len(s.Program) >= 12 {
		text += ", program " + s.Program[:12]
	}
	return text
}

// ThisSoftware describes the running program. A build without version control (go run, -buildvcs=false) has no commit;
// a program that cannot be read has no checksum.
func ThisSoftware() Software {
	s := softwareOf(debug.ReadBuildInfo())
	if file, err := os.Executable(); err == nil {
		if program, err := os.ReadFile(file); err == nil {
			s.Program = digestOf(program)
		}
	}
	return s
}

// ThisVersion is the text of ThisSoftware without the checksum of the program, which takes time.
func ThisVersion() string { return softwareOf(debug.ReadBuildInfo()).String() }

func softwareOf(info *debug.BuildInfo, known bool) Software {
	s := Software{Version: Version, Compiler: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	if !known {
		return s
	}
	if release.MatchString(info.Main.Version) {
		s.Version = strings.TrimPrefix(info.Main.Version, "v")
	}
	dirty := false
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			s.Commit = setting.Value
		case "vcs.modified":
			dirty = setting.Value == "true"
		case "-tags", "-race", "-gcflags", "-pgo", "CGO_ENABLED", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140":
			s.Compiler += " " + setting.Key + "=" + setting.Value // not -ldflags, where builds put other values
		}
	}
	if dirty && s.Commit != "" {
		s.Commit += "+dirty"
	}
	return s
}

// digestOf returns the SHA-256 of the parts together, in hexadecimal. Digests find accidents and edits of a record by
// hand; they are not signatures, because anyone can compute them again.
//
// That of a line of the journal is of the digest of the line before, or of run.json, and of its text up to lineDigest.
// That of result.json is of run.json, the first journal_bytes bytes of roots.jsonl, and its text up to resultDigest.
func digestOf(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// environmentNames are patterns of the variables that are recorded, because they change a measurement.
var environmentNames = [...]string{
	"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", // the runtime of the host and of engines in Go
	"OMP_*", "GOMP_*", "KMP_*", // OpenMP
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",
	"NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
	"OMPI_MCA_*", "UCX_TLS", "UCX_NET_DEVICES", "NCCL_*", // between ranks
	"LD_PRELOAD", "MALLOC_*", // the allocator
	"SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE",
	"SLURM_CPU_BIND", "SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "SLURM_TASKS_PER_NODE",
	"TEPS_*",
}

// secret matches the names of variables that are never recorded.
var secret = regexp.MustCompile(`(?i)PASS|SECRET|TOKEN|KEY|CREDENTIAL|AUTH|USER|COOKIE|URL`)

// environmentOf selects the variables to record from a list in the form of os.Environ.
func environmentOf(variables []string) map[string]string {
	selected := map[string]string{}
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		for _, pattern := range environmentNames {
			if matches, _ := path.Match(pattern, name); matches && !secret.MatchString(name) {
				selected[name] = value
			}
		}
	}
	return selected
}
