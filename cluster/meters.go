// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/power"
)

// nodeMeters are the meters of a node. The head compares its clock with that of the node before and after a recording.
type nodeMeters struct {
	open  func(ctx context.Context, specifications []string) (power.Meters, []power.Absence, error)
	clock func(time.Time) time.Time // what the clock of this host shows at a moment

	meters power.Meters // nil: not open
	stop   func() ([]power.Series, error)
}

// hostClock is a clock that nobody sets while this process runs.
func hostClock() func(time.Time) time.Time {
	start := time.Now()
	return func(t time.Time) time.Time { return start.Add(t.Sub(start)) }
}

type (
	metersReply struct {
		Meters   []openMeter
		Absences []power.Absence
	}
	openMeter struct {
		power.Info
		Stated, Requested bool // ScopeStated and Asked, which an Info in JSON does not have
		Slowest           time.Duration
	}
)

// handlers returns the handlers of the meters.
func (m *nodeMeters) handlers() []Handler {
	type none = struct{}
	return []Handler{
		Handle("meters", func(ctx context.Context, specifications []string) (reply metersReply, err error) {
			if err := m.close(); err != nil {
				return reply, err
			}
			if m.meters, reply.Absences, err = m.open(ctx, specifications); err != nil {
				m.meters = nil
				return reply, err
			}
			for _, i := range m.meters.Infos() {
				reply.Meters = append(reply.Meters, openMeter{i, i.ScopeStated, i.Asked, i.MinInterval})
			}
			return reply, nil
		}),
		Handle("meters-record", func(context.Context, none) (_ none, err error) {
			m.stop, err = m.meters.Record(context.Background()) // it outlives this call
			return none{}, err
		}),
		Handle("meters-stop", func(context.Context, none) ([]power.Series, error) {
			series, err := m.end()
			for _, s := range series {
				for i, r := range s.Readings {
					s.Readings[i].Time = m.clock(r.Time)
				}
			}
			return series, err
		}),
		Handle("meters-close", func(context.Context, none) (none, error) { return none{}, m.close() }),
		Handle("clock", func(context.Context, none) (time.Time, error) { return m.clock(time.Now()), nil }),
	}
}

// end ends a recording, if there is one.
func (m *nodeMeters) end() (series []power.Series, err error) {
	if m.stop != nil {
		series, err = m.stop()
		m.stop = nil
	}
	return series, err
}

func (m *nodeMeters) close() error {
	_, err := m.end()
	if m.meters != nil {
		err = errors.Join(err, m.meters.Close())
		m.meters = nil
	}
	return err
}

// allMeters are the open meters of all nodes, as power.Meters.
type allMeters struct {
	*Cluster
	infos  []power.Info
	before []power.Moment // of each node, when the recording began
}

// Meters opens the specified power meters on all nodes, or all that each of them finds. A node without a meter of a
// scope that another one has is reported as an absence of that scope.
func (c *Cluster) Meters(ctx context.Context, specifications []string) (power.Meters, []power.Absence, error) {
	all, err := All[metersReply](ctx, c, "meters", specifications)
	if err != nil {
		return nil, nil, err
	}
	m := &allMeters{Cluster: c}
	for i, n := range c.Nodes {
		for _, o := range all[i].Meters {
			o.Info.ScopeStated, o.Info.Asked, o.Info.MinInterval = o.Stated, o.Requested, o.Slowest
			o.Info.Host = n.Host
			o.Info.Name += o.Info.OnHost()
			m.infos = append(m.infos, o.Info)
		}
	}
	return m, c.absences(all, m.infos), nil
}

// absences returns why nodes have no meters of some scopes. An absence of several nodes is one.
func (c *Cluster) absences(all []metersReply, infos []power.Info) (absences []power.Absence) {
	hosts := map[power.Absence][]string{}
	for i, n := range c.Nodes {
		own := all[i].Absences
		for _, info := range infos {
			has := func(o openMeter) bool { return o.Scope == info.Scope }
			if slices.ContainsFunc(all[i].Meters, has) ||
				slices.ContainsFunc(own, func(a power.Absence) bool { return a.Scope == info.Scope }) {
				continue
			}
			k := slices.IndexFunc(own, func(a power.Absence) bool {
				return a.Scope == "" && strings.HasPrefix(a.Source, info.Source)
			})
			if k >= 0 {
				own[k].Scope = info.Scope
				continue
			}
			own = append(own, power.Absence{Source: info.Source, Scope: info.Scope, Asked: info.Asked,
				Reason: fmt.Sprintf("no meter has the scope %s there, unlike on %s", info.Scope, info.Host)})
		}
		for _, a := range own {
			if hosts[a] == nil {
				absences = append(absences, a)
			}
			hosts[a] = append(hosts[a], n.Host)
		}
	}
	for i, a := range absences {
		on := "all hosts"
		if names := hosts[a]; len(names) < len(c.Nodes) {
			on = strings.Join(names, ", ")
		}
		absences[i].Source += " on " + on
	}
	return absences
}

// Infos implements power.Meters.
func (m *allMeters) Infos() []power.Info { return m.infos }

// Record implements power.Meters. The nodes sample their meters, and send the readings at the end.
func (m *allMeters) Record(ctx context.Context) (stop func() ([]power.Series, error), err error) {
	if m.before, err = m.moments(ctx); err == nil {
		err = call(ctx, m, "meters-record")
	}
	return func() ([]power.Series, error) { return m.stop(context.WithoutCancel(ctx)) }, err
}

func (m *allMeters) stop(ctx context.Context) (series []power.Series, err error) {
	all, err := All[[]power.Series](ctx, m, "meters-stop", nil)
	if err != nil {
		return nil, err
	}
	after, err := m.moments(ctx)
	for i, own := range all {
		for _, s := range own {
			s.Info = m.infos[len(series)]
			s.Align(m.before[i], after[i])
			series = append(series, s)
		}
	}
	return series, err
}

// moments compares the clock of each node with that of the head.
func (m *allMeters) moments(ctx context.Context) ([]power.Moment, error) {
	all := make([]power.Moment, len(m.Nodes))
	return all, m.Each(ctx, func(ctx context.Context, n *Node) (err error) {
		o := &all[n.Index]
		o.There, o.Here, o.Error, err = shortest[time.Time](ctx, n, "clock", nil)
		return err
	})
}

// shortest calls a method several times. It returns the answer of the shortest call, and the moment in the middle of
// that call with a bound on its distance to the moment of the answer.
func shortest[Reply any](ctx context.Context, n *Node, method string, args any) (
	answer Reply, at time.Time, bound time.Duration, err error) {
	const calls = 16 // NTP takes the best of 8
	for i := range calls {
		var reply Reply
		start := time.Now()
		if err := n.Call(ctx, method, args, &reply); err != nil {
			return answer, at, bound, err
		}
		if half := time.Since(start) / 2; i == 0 || half < bound {
			answer, at, bound = reply, start.Add(half), half
		}
	}
	return answer, at, bound, nil
}

// Close implements power.Meters.
func (m *allMeters) Close() error {
	if m.alive.Err() != nil {
		return nil // the meters are closed with the nodes
	}
	return call(context.Background(), m, "meters-close")
}
