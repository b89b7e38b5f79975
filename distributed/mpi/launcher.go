// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/tepsbench/teps/plugins"
)

// launcher is a program that starts ranks.
type launcher struct {
	name     string
	programs []string // the first one in PATH is used
	arguments,
	anywhere []string // without hosts: any number of ranks on this host
	number string // option of the number of ranks
	hosts  string // option of hosts with slots
	root   string // option that root needs

	// The signal at the death of teps ends the launcher and its ranks, stopped ones too. Hydra waits for these if it can.
	orphaned syscall.Signal
}

// launchers has Open MPI's first. Where several MPIs are installed, Debian calls its mpirun mpirun.openmpi.
var launchers = []launcher{
	{name: "mpirun", programs: []string{"mpirun.openmpi", "mpirun"}, anywhere: []string{"--oversubscribe"},
		number: "-np", hosts: "--host", root: "--allow-run-as-root", orphaned: syscall.SIGTERM},
	{name: "hydra", programs: []string{"mpiexec.hydra", "mpirun.mpich"}, number: "-n", hosts: "-hosts",
		orphaned: syscall.SIGKILL},
	// Without these srun waits for the step in which teps runs, lets ranks live when one has died, and keeps what they
	// write until a line ends.
	{name: "srun", programs: []string{"srun"},
		arguments: []string{"--overlap", "--kill-on-bad-exit=1", "--unbuffered", "--input=0"}, number: "--ntasks",
		orphaned: syscall.SIGTERM},
}

const (
	auto = "auto"

	// RankCommand is the command of teps that is one rank: it calls Rank.
	RankCommand = "mpi-rank"
)

func launcherOptions() []plugins.Option {
	return []plugins.Option{
		{Name: "launcher", Kind: plugins.Choice, Default: auto, Choices: []string{auto, "mpirun", "hydra", "srun"},
			Meaning: "program that starts ranks: mpirun of Open MPI, hydra of MPICH and its kin, or srun of Slurm; auto: " +
				"mpirun or hydra, whichever is in PATH"},
		{Name: "hosts", Kind: plugins.Text, Needs: "launcher=auto|mpirun|hydra",
			Meaning: "hosts and their slots, h1:2,h2:2 or h1:2;h2:2; empty: this host, or those in the launcher's arguments"},
		{Name: "arguments", Kind: plugins.Text, Meaning: "more arguments of the launcher, separated by blanks"},
	}
}

// findLauncher returns the first launcher of these names that is in PATH, and the path of its program.
func findLauncher(names ...string) (launcher, string, error) {
	if names[0] == auto {
		names = []string{"mpirun", "hydra"}
	}
	var missing []string
	for _, l := range launchers {
		if !slices.Contains(names, l.name) {
			continue
		}
		for _, program := range l.programs {
			path, err := exec.LookPath(program)
			if err == nil && !(l.name == "mpirun" && isHydra(path)) {
				return l, path, nil
			}
		}
		missing = append(missing, strings.Join(l.programs, " or "))
	}
	return launcher{}, "", fmt.Errorf("%s was not found in PATH; install Open MPI (Debian: openmpi-bin), MPICH (Debian: "+
		"mpich) or Slurm's client, or choose another launcher", strings.Join(missing, " or "))
}

// isHydra reports whether an mpirun is that of MPICH.
func isHydra(path string) bool {
	target, _ := filepath.EvalSymlinks(path)
	name := filepath.Base(target)
	return strings.Contains(name, "hydra") || strings.Contains(name, "mpich")
}

// commandLine returns the arguments of the launcher that start a program as ranks.
func (l launcher) commandLine(ranks int, options plugins.Settings, program ...string) []string {
	args := append(slices.Clone(l.arguments), l.number, strconv.Itoa(ranks))
	if l.root != "" && os.Geteuid() == 0 {
		args = append(args, l.root)
	}
	if _, set := os.LookupEnv("TEPS_MPI"); set && l.name == "mpirun" { // others pass the whole environment
		args = append(args, "-x", "TEPS_MPI")
	}
	if hosts := options.Text("hosts"); hosts != "" {
		args = append(args, l.hosts, strings.ReplaceAll(hosts, ";", ","))
	} else {
		args = append(args, l.anywhere...)
	}
	return append(append(args, strings.Fields(options.Text("arguments"))...), program...)
}
