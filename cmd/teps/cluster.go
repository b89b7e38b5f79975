// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tepsbench/teps/cluster"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
)

// clusterFlags are the flags of teps run for several hosts.
type clusterFlags struct {
	launcher, arguments, network string
	hosts                        []string
	nodes                        int
}

func (f *clusterFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.launcher, "cluster", "", "run on several hosts, with this launcher: srun, mpirun or hydra")
	flags.Lookup("cluster").NoOptDefVal = "srun"
	flags.StringSliceVar(&f.hosts, "hosts", nil, "names of the hosts (default: those of the allocation)")
	flags.IntVar(&f.nodes, "nodes", 0, "number of hosts, if the launcher knows them and Slurm does not")
	flags.StringVar(&f.arguments, "launcher-args", "", "more arguments of the launcher, separated by blanks")
	flags.StringVar(&f.network, "network", "", "network by which hosts connect to this one, such as 10.0.0.0/8")
}

// cluster returns the part of a plan, or nil for this host.
func (f *clusterFlags) cluster() (*record.Cluster, error) {
	switch {
	case f.launcher == "" && (len(f.hosts) > 0 || f.nodes > 0 || f.network != ""):
		return nil, usage("--hosts, --nodes and --network require --cluster, such as --cluster=mpirun")
	case f.launcher == "" && f.arguments == "":
		return nil, nil
	}
	return &record.Cluster{
		Launcher: f.launcher, Hosts: f.hosts, Nodes: f.nodes, Arguments: strings.Fields(f.arguments), Network: f.network,
	}, nil
}

// build identifies this program among those of other hosts.
func build() string {
	software := record.ThisSoftware()
	info, _ := debug.ReadBuildInfo()
	return strings.TrimSpace(fmt.Sprint(software, " ", info.Main.Sum))
}

// clusterConfig returns how a cluster is started. Without a launcher it is one that is installed.
func clusterConfig(c *record.Cluster) (config cluster.Config, err error) {
	if config.Program, err = os.Executable(); err != nil {
		return config, fmt.Errorf("find the program of teps: %w", err)
	}
	config.Version = build()
	if c != nil {
		config.Hosts, config.Nodes, config.Arguments, config.Network = c.Hosts, c.Nodes, c.Arguments, c.Network
	}
	if c == nil || c.Launcher == "" {
		config.Launcher, err = cluster.AnyLauncher()
	} else {
		config.Launcher, err = cluster.FindLauncher(c.Launcher)
	}
	return config, err
}

// span starts the nodes of a plan on several hosts.
func (p *processes) span(ctx context.Context, c *record.Cluster) (err error) {
	if p.plan = c; !c.Spans() {
		return nil
	}
	config, err := clusterConfig(c)
	if err == nil {
		p.cluster, err = cluster.Start(ctx, config)
	}
	if err == nil {
		err = p.cluster.Connect(ctx)
	}
	return err
}

// Data implements harness.Clustered.
func (p *processes) Data(plan record.Plan, id record.GraphID) harness.Data {
	if p.cluster == nil {
		return nil
	}
	return p.cluster.Data(plan, id)
}

// Memory implements harness.Clustered.
func (p *processes) Memory(ctx context.Context) (hosts int, bytes int64, source string, err error) {
	if p.cluster == nil {
		return 1, 0, "", nil
	}
	return p.cluster.Memory(ctx)
}

// Spread implements harness.Spreader.
func (p *processes) Spread(single plugins.Engine, spec record.EngineSpec, hosts int) harness.Spread {
	return cluster.NewSpread(p.Host, single.(*rpc.Client), hosts, func(ctx context.Context, n int) (
		clients []*rpc.Client, stop func(), err error) {
		places, stop, err := p.start(ctx, n)
		if err != nil {
			return nil, nil, err
		}
		own, err := program(spec)
		if err == nil {
			clients, err = cluster.OpenPlaces(ctx, p.Host, own, places)
		}
		if err != nil {
			stop()
		}
		return clients, stop, err
	})
}

// startHere starts n processes of an engine on this host by a launcher.
func (p *processes) startHere(ctx context.Context, n int) ([]*cluster.Place, func(), error) {
	if p.here == nil {
		config, err := clusterConfig(p.plan)
		if err == nil {
			p.here, err = cluster.NewHere(config)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return p.here.Start(ctx, n)
}

// Close ends engines and nodes.
func (p *processes) Close() error {
	err := p.Host.Close()
	if p.here != nil {
		p.here.Close()
	}
	if p.cluster != nil {
		p.cluster.Close()
	}
	return err
}

// nodeCommand is the process on each host of a cluster, and placeCommand a process of an engine there.
func nodeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "node", Short: "Serve teps run on a host of a cluster (started by a launcher)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host := newProcesses(c, false)
			err := cluster.Serve(c.Context(), build(), func(self *cluster.Self) []cluster.Handler {
				return cluster.Handlers(self, func(places func(context.Context, int) ([]*cluster.Place, error)) harness.Host {
					host.start = func(ctx context.Context, n int) ([]*cluster.Place, func(), error) {
						all, err := places(ctx, n)
						return all, func() {}, err
					}
					return host
				})
			})
			return errors.Join(err, host.Close())
		},
	}
}

func placeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "place", Short: "Become a process of an engine (started by a launcher)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return cluster.ServePlace() },
	}
}
