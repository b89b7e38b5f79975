package harness

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// What changes a measurement and is neither the machine nor the plan: variables of the environment, how the host was
// built, and the libraries in it.

// Library is a Go module in the program of the host.
type Library struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// environmentNames are the variables that are recorded. A name that ends in * stands for all that begin so. Nothing else of
// the environment reaches a record.
var environmentNames = [...]string{
	"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", // the runtime of the host and of engines in Go
	"OMP_*", "GOMP_*", "KMP_*", // OpenMP
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
	"OMPI_MCA_*", "UCX_TLS", "UCX_NET_DEVICES", "NCCL_*", // between ranks
	"LD_PRELOAD", "MALLOC_*", // the allocator
	"SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPU_BIND",
	"SLURM_NTASKS", "SLURM_CPUS_PER_TASK", "SLURM_TASKS_PER_NODE",
	"TEPS_*",
}

// secretWords are in the names of variables that are never recorded, also of those above.
var secretWords = [...]string{"PASS", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "AUTH", "USER", "COOKIE", "URL"}

// environmentOf picks from variables as os.Environ gives them. Nil: none of those that matter is set.
func environmentOf(variables []string) map[string]string {
	var picked map[string]string
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		if !recorded(name) {
			continue
		}
		if picked == nil {
			picked = map[string]string{}
		}
		picked[name] = value
	}
	return picked
}

func recorded(name string) bool {
	for _, word := range secretWords {
		if strings.Contains(strings.ToUpper(name), word) {
			return false
		}
	}
	return slices.ContainsFunc(environmentNames[:], func(pattern string) bool {
		prefix, all := strings.CutSuffix(pattern, "*")
		return name == pattern || all && strings.HasPrefix(name, prefix)
	})
}

func thisEnvironment() map[string]string { return environmentOf(os.Environ()) }

// thisBuild returns the libraries and the settings with which the program was built. Linker flags are left out: they are
// where builds put values of their own.
func thisBuild() (libraries []Library, settings map[string]string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, nil
	}
	return librariesOf(info), settingsOf(info)
}

func librariesOf(info *debug.BuildInfo) (libraries []Library) {
	for _, module := range info.Deps {
		for module.Replace != nil {
			module = module.Replace
		}
		libraries = append(libraries, Library{module.Path, module.Version})
	}
	return libraries
}

func settingsOf(info *debug.BuildInfo) map[string]string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags", "-race", "-gcflags", "-pgo", "CGO_ENABLED", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140":
			settings[s.Key] = s.Value
		}
	}
	return settings
}
