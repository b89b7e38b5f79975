// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/internal/units"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/record"
)

// data is harness.Data in slices on the nodes: each call goes to all nodes at the same time.
type data struct {
	*Cluster
	plan  record.Plan
	id    record.GraphID
	graph *record.GraphRecord // of Make
}

// Connect joins the nodes by MPI, so that they can validate a graph together.
func (c *Cluster) Connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.times.start)
	defer cancel()
	return call(ctx, c, "connect")
}

// Data returns the harness.Data of a graph of a plan in slices on the nodes. There is one at a time.
func (c *Cluster) Data(plan record.Plan, id record.GraphID) harness.Data {
	return &data{Cluster: c, plan: plan, id: id}
}

// Memory is that of harness.Clustered.
func (c *Cluster) Memory(ctx context.Context) (hosts int, bytes int64, source string, err error) {
	all, err := All[memoryReply](ctx, c, "memory", nil)
	for i, m := range all {
		if i == 0 || m.Bytes < bytes {
			bytes, source = m.Bytes, c.Nodes[i].Host+", "+m.Source
		}
	}
	return len(c.Nodes), bytes, source, err
}

// call calls a method of all nodes, without a reply.
func call(ctx context.Context, g Group, method string) error {
	_, err := All[struct{}](ctx, g, method, nil)
	return err
}

// Make implements harness.Data.
func (d *data) Make(ctx context.Context, g *record.GraphRecord, progress harness.Progress) (
	made harness.Made, err error) {
	start, step := time.Now(), progress.Step(fmt.Sprintf("%s: generate on %d hosts", d.id, len(d.Nodes)), 0)
	defer func() { step.End(fmt.Sprintf("%d tuples in %s", g.Tuples, units.Duration(time.Since(start))), err) }()
	all, err := All[makeReply](ctx, d, "make", makeArgs{d.plan, d.id, *g})
	if err != nil {
		return made, err
	}
	d.graph = g
	for _, part := range all {
		g.Tuples += part.Graph.Tuples
		g.Generation = max(g.Generation, part.Graph.Generation)
	}
	return harness.Made{Joined: all[0].Joined, Isolated: all[0].Isolated}, nil
}

// Joined implements harness.Data.
func (d *data) Joined(ctx context.Context, vertices []graph.Vertex) ([]bool, error) {
	all, err := All[[]bool](ctx, d, "joined", vertices)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Changed implements harness.Data.
func (d *data) Changed(ctx context.Context) (changed bool, err error) {
	all, err := All[bool](ctx, d, "changed", nil)
	for _, part := range all {
		changed = changed || part
	}
	return changed, err
}

// Restore implements harness.Data.
func (d *data) Restore(ctx context.Context, progress harness.Progress) (err error) {
	step := progress.Step(fmt.Sprintf("%s: generate again on %d hosts", d.id, len(d.Nodes)), 0)
	defer func() { step.End("", err) }()
	return call(ctx, d, "restore")
}

// MakeWeights implements harness.Data.
func (d *data) MakeWeights(ctx context.Context, progress harness.Progress) (err error) {
	if d.graph.Weights != "" {
		return nil
	}
	step := progress.Step(fmt.Sprintf("%s: weights on %d hosts", d.id, len(d.Nodes)), 0)
	defer func() { step.End("", err) }()
	all, err := All[string](ctx, d, "weigh", nil)
	d.graph.Weights = all[0]
	return err
}

// Close implements harness.Data.
func (d *data) Close() error {
	if d.alive.Err() != nil {
		return nil // the memory is gone with the nodes
	}
	return call(context.Background(), d, "drop")
}

// Open implements harness.Data.
func (d *data) Open(
	ctx context.Context, plan record.Plan, kernel record.Kernel, spec record.EngineSpec, _ harness.Progress,
) (harness.Session, error) {
	s := &session{data: d, group: d.Cluster}
	var err error
	s.opened, err = All[openReply](ctx, d, "open", openArgs{plan, kernel, spec})
	for i, n := range d.Nodes {
		if err == nil {
			s.opened[i].Description.Options = s.opened[i].Options
		}
		if err == nil && s.opened[i].Checksum != s.opened[0].Checksum {
			err = fmt.Errorf("engine %s on %s is another program than on %s: their SHA-256 are %s and %s; install the same "+
				"on all hosts", spec.Name, n.Host, d.Nodes[0].Host, s.opened[i].Checksum, s.opened[0].Checksum)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// session is a harness.Session with processes on all nodes.
type session struct {
	*data
	group  Group // the nodes; from kernel 1 on the launcher's job with the processes
	job    *Job
	opened []openReply
}

func (s *session) Describe(context.Context) (plugins.Description, error) {
	return s.opened[0].Description, nil
}
func (s *session) Checksum() string { return s.opened[0].Checksum }

// Construct implements harness.Session.
func (s *session) Construct(ctx context.Context, options map[string]string) (c harness.Constructed, err error) {
	args := constructArgs{Options: options}
	if s.opened[0].Description.Spreads {
		n, err := harness.ProcessesOf(s.opened[0].Description, options, len(s.Nodes))
		if err != nil {
			return c, err
		}
		if s.job == nil {
			if s.job, err = s.StartPlaces(n); err != nil {
				return c, err
			}
			s.group = s.job
		}
		args.Job = s.job.Name
	}
	all, err := All[harness.Constructed](ctx, s.group, "construct", args)
	if err != nil {
		return c, err
	}
	var parts []plugins.Construction
	for _, part := range all {
		c.Wall = max(c.Wall, part.Wall)
		parts = append(parts, part.Construction)
	}
	c.Construction = plugins.CombineConstructions(parts)
	for _, n := range s.Nodes {
		c.Hosts = append(c.Hosts, n.Host)
	}
	return c, nil
}

func (s *session) Ready(ctx context.Context) error { return call(ctx, s.group, "ready") }

// Search implements harness.Session. The time on the hosts' clocks is that of the slowest one.
func (s *session) Search(ctx context.Context, root graph.Vertex, wake bool) (found harness.Searched, err error) {
	all, err := All[harness.Searched](ctx, s.group, "search", searchArgs{root, wake})
	if err != nil {
		return found, err
	}
	parts := make([]plugins.Traversal, len(all))
	perHost := len(all[0].Ranks)
	for i, part := range all {
		parts[i] = part.Traversal
		found.Wall = max(found.Wall, part.Wall)
		if len(part.Ranks) != perHost {
			perHost = 0
		}
		found.Interference = worse(found.Interference, part.Interference)
	}
	found.Traversal = plugins.CombineTraversals(parts)
	found.Ranks = nil
	for k := range perHost { // rank k*H + h is process k of host h
		for _, part := range all {
			found.Ranks = append(found.Ranks, part.Ranks[k])
		}
	}
	return found, nil
}

// worse returns the interference of the host that waited longest.
func worse(a, b *machine.Interference) *machine.Interference {
	if a == nil || b != nil && b.Waited > a.Waited {
		return b
	}
	return a
}

// Repeat implements harness.Session.
func (s *session) Repeat(ctx context.Context, roots []graph.Vertex, duration time.Duration) (
	done harness.Repeated, err error) {
	all, err := All[harness.Repeated](ctx, s.group, "repeat", repeatArgs{roots, duration})
	for i, part := range all {
		if part.Searches != all[0].Searches {
			return done, fmt.Errorf("the engine reports %d searches on %s, and %d on %s", part.Searches, s.Nodes[i].Host,
				all[0].Searches, s.Nodes[0].Host)
		}
		done = harness.Repeated{Searches: part.Searches, Wall: max(done.Wall, part.Wall)}
	}
	return done, err
}

// Validate implements harness.Session. All nodes come to the same verdict.
func (s *session) Validate(ctx context.Context, root graph.Vertex, how harness.Validation) (
	v harness.Verdict, err error) {
	all, err := All[harness.Verdict](ctx, s, "validate", validateArgs{root, how})
	if err != nil {
		return v, err
	}
	v = all[0]
	for _, part := range all[1:] {
		v.After = max(v.After, part.After)
	}
	return v, nil
}

func (s *session) StartValidating(context.Context) {}
func (s *session) StopValidating()                 {}

// PeakMemory implements harness.Session. It has no error: a node that is gone fails the next call.
func (s *session) PeakMemory(ctx context.Context) record.PeakMemory {
	m := record.PeakMemory{Host: machine.PeakMemory(os.Getpid(), false)}
	all, err := All[record.PeakMemory](ctx, s, "peak", nil)
	for i, part := range all {
		if err == nil {
			m.Engine += part.Engine
			m.Nodes = append(m.Nodes, record.NodeMemory{Name: s.Nodes[i].Host, Node: part.Host, Engine: part.Engine})
		}
	}
	return m
}

// Close implements harness.Session.
func (s *session) Close() error {
	if s.alive.Err() != nil {
		return nil // the processes are gone with the nodes
	}
	err := call(context.Background(), s, "close")
	if s.job != nil {
		_ = s.job.Stop() // how the launcher ended says nothing: its processes were closed
	}
	return err
}
