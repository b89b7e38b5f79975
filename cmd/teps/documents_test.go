// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// reportsOf returns the commands "teps report" of a document, each with the file of its --out. Their paths are relative
// to the repository, where the test is from now on.
func reportsOf(t *testing.T, document string, minimum int) map[string]string {
	t.Helper()
	t.Chdir("../..")
	text := must.Get(os.ReadFile(document))
	commands := map[string]string{}
	command := regexp.MustCompile(`(?m)^(?:\./)?teps (report .*?)(?: --out (\S+))?$`)
	for _, c := range command.FindAllStringSubmatch(string(text), -1) {
		commands[c[1]+" "+c[2]] = c[2]
	}
	if len(commands) < minimum {
		t.Fatalf("%d commands in %s, want at least %d", len(commands), document, minimum)
	}
	return commands
}

// Every command of docs/reports.md works as it stands there, but for the place of its files.
func TestExamplesOfReportsWork(t *testing.T) {
	for line, out := range reportsOf(t, "docs/reports.md", 8) {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.TrimSuffix(line, out))
			if out != "" {
				out = filepath.Join(t.TempDir(), out)
				args = append(args, "--out", out)
			}
			got := run(t, args...)
			if got.code != exitValid || out == "" && got.stdout == "" {
				t.Fatalf("exit code %d, %d bytes: %s", got.code, len(got.stdout), got.stderr)
			}
			if info, err := os.Stat(out); out != "" && (err != nil || info.Size() == 0) {
				t.Errorf("it writes nothing: %v", err)
			}
		})
	}
}

// The commands of docs/images/README.md, with another place for their files, must draw the pictures that are committed.
// To draw these again, run the commands.
func TestPicturesAreWhatTheirCommandsDraw(t *testing.T) {
	made := map[string]bool{}
	for line, want := range reportsOf(t, "docs/images/README.md", 4) {
		made[want] = true
		t.Run(filepath.Base(want), func(t *testing.T) {
			got := filepath.Join(t.TempDir(), filepath.Base(want))
			args := append(strings.Fields(strings.TrimSuffix(line, want)), "--out", got)
			if e := run(t, args...); e.code != exitValid {
				t.Fatalf("exit code %d: %s", e.code, e.stderr)
			}
			samples.Drawing(t, want, must.Get(os.ReadFile(got)))
		})
	}
	files := must.Get(filepath.Glob("docs/images/*.svg"))
	for _, file := range files {
		if !made[file] {
			t.Errorf("no command of docs/images/README.md makes %s", file)
		}
	}
}

// The batch script runs and resumes, and what the checks of ReFrame and JUBE look for is in its output.
func TestRecipes(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	program := must.Get(exec.LookPath("teps"))
	out := filepath.Join(t.TempDir(), "run")
	batch := func(arguments ...string) string {
		cmd := exec.Command("bash", append([]string{"../../recipes/teps.sbatch"}, arguments...)...)
		cmd.Env = append(os.Environ(), "TEPS="+program, "OUT="+out, "SCALE=8", "ENGINE=serial", "SLURM_JOB_ID=7")
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return string(text)
	}
	text := batch("--roots", "4")
	must.Equal(t, batch("--roots", "4"), text, "a job that is queued again")
	checks := map[string]string{ // by file: a text with a pattern in each
		"reframe.py": `r"\^(.*?: .*?)"`, "jube.xml": `<pattern name="\w+" type="float">(.*?)</pattern>`,
	}
	for file, pattern := range checks {
		recipe := must.Get(os.ReadFile("../../recipes/" + file))
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(recipe), -1)
		for _, one := range found {
			if !regexp.MustCompile("(?m)^" + strings.ReplaceAll(one[1], "${jube_pat_fp}", `\S+`)).MatchString(text) {
				t.Errorf("%s looks for %q, which is not in\n%s", file, one[1], text)
			}
		}
		must.Equal(t, len(found), 3, file)
		if file == "jube.xml" && xml.Unmarshal(recipe, new(struct{})) != nil {
			t.Errorf("%s is not XML", file)
		}
	}
}
