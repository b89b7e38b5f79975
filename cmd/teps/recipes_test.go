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
)

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
