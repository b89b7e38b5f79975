package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins/find"
	"github.com/tepsbench/teps/plugins/rpc"
)

// enginePlaces are where this user's engines are looked for.
func enginePlaces() []find.Place {
	config, err := os.UserConfigDir()
	if err != nil {
		config = "" // without a home there is no folder of the user's
	}
	program, err := os.Executable()
	if err != nil {
		program = ""
	}
	return find.Places(os.Getenv(find.Variable), config, program)
}

func readTrust() (*find.Trust, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the trust list: %w", err)
	}
	return find.ReadTrust(find.TrustFile(config))
}

// trustedSum is the checksum that the file of an engine must have because it is in the trust list; empty: it is not.
func trustedSum(path string) (string, error) {
	if _, err := os.UserConfigDir(); err != nil {
		return "", nil // no home, no list
	}
	list, err := readTrust()
	if err != nil {
		return "", err
	}
	sum, _ := list.Sum(path)
	return sum, nil
}

// findEngine finds an outside engine by its name; ok is false if there is none.
func findEngine(name string) (path string, ok bool, err error) {
	engine, ok := find.Named(enginePlaces(), name)
	if !ok {
		return "", false, nil
	}
	if engine.Place.Listed {
		sum, err := trustedSum(engine.Path)
		if err != nil {
			return "", false, err
		}
		if sum == "" {
			return "", false, harness.Usage("engine %s is %s, found on %s, and engines from there must be in the trust list; if you know it: teps trust %s", name, engine.Path, find.Variable, name)
		}
	}
	return engine.Path, true, nil
}

func trustCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "trust [ENGINE...]",
		Short: "Keep the list of engines whose files you have looked at",
		Long: `trust puts outside engines, by name or path, into the trust list with the SHA-256 of
their files as they are now; without engines it prints the list. An engine in the
list is refused when its file has changed. An engine that is found by name on
` + find.Variable + ` must be in the list.`,
		Example: `  teps trust ./teps-engine-mine
  teps trust mine
  teps trust --remove mine
  teps trust | sha256sum --check`,
		RunE: func(c *cobra.Command, args []string) error {
			list, err := readTrust()
			if err != nil {
				return err
			}
			out := newPrinter(c.OutOrStdout())
			if len(args) == 0 {
				for _, path := range list.Paths() {
					sum, _ := list.Sum(path)
					out.printf("%s  %s\n", sum, path)
				}
				return out.err
			}
			for _, name := range args {
				if err := trust(list, name, remove); err != nil {
					return err
				}
			}
			return list.Write()
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "take engines out of the list")
	return c
}

// trust puts an engine into the list, or takes it out. A path that is gone can still be taken out.
func trust(list *find.Trust, name string, remove bool) error {
	path := name
	if !isPath(name) {
		if builtin(name) != nil {
			return harness.Usage("engine %s is a part of teps", name)
		}
		engine, ok := find.Named(enginePlaces(), name)
		if !ok {
			return harness.Usage("no engine %s was found; see teps engines", name)
		}
		path = engine.Path
	}
	if remove {
		if !list.Remove(path) {
			return harness.Usage("%s is not in the trust list", path)
		}
		return nil
	}
	sum, err := rpc.Checksum(path)
	if err != nil {
		return harness.Usage("%w", err)
	}
	list.Add(path, sum)
	return nil
}

// distrusted adds to the error of an engine that has changed what to do about it.
func distrusted(err error, path string) error {
	if errors.Is(err, rpc.ErrChecksum) {
		return fmt.Errorf("%w (the trust list has the other one; if the change is yours: teps trust %s)", err, path)
	}
	return err
}
