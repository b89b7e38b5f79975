// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/power/meters"
)

// wrongClock is the clock of node i: off by i hours, and faster by i hundredths.
func wrongClock(i int) func(time.Time) time.Time {
	start := time.Now()
	return func(t time.Time) time.Time {
		passed := time.Duration(float64(t.Sub(start)) * (1 + float64(i)/100))
		return start.Add(passed + time.Duration(i)*time.Hour)
	}
}

// meterHandlers are those of a node in which {node} in a specification is its number, and whose clock is wrong.
func meterHandlers() []Handler {
	node := os.Getenv(nodeKey)
	i, _ := strconv.Atoi(node)
	m := &nodeMeters{clock: wrongClock(i)}
	m.open = func(ctx context.Context, specs []string) (power.Meters, []power.Absence, error) {
		own := make([]string, len(specs))
		for k, s := range specs {
			own[k] = strings.ReplaceAll(s, "{node}", node)
		}
		found, absent, err := meters.Find(ctx, meters.Config{Specs: own})
		return power.Here(found), absent, err
	}
	return m.handlers()
}

// scripts writes meter programs for three nodes: 100, 200 and 300 W, each followed by what it does after a reading.
func scripts(t *testing.T, then ...string) (spec string) {
	t.Helper()
	dir := t.TempDir()
	for i, then := range then {
		text := fmt.Sprintf("#!/bin/sh\nwhile true; do\n\techo ,%d00\n\t%s\ndone\n", i+1, then)
		must.Do(os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte(text), 0o700))
	}
	return "command:wall@1%=" + filepath.Join(dir, "{node}")
}

// recorded records meters until the first has some readings, and the loop that the test calls has ended.
func recorded(t *testing.T, m power.Meters, length time.Duration) (from, to time.Time, series []power.Series) {
	t.Helper()
	from = time.Now()
	stop := must.Get(m.Record(t.Context()))
	<-time.After(length) // an interval to be measured
	series = must.Get(stop())
	return from, time.Now(), series
}

func TestMetersOfAllNodesAreRecordedOnOneClock(t *testing.T) {
	c, _ := start(t, config(3))
	const steady = "sleep 0.02"
	m, absent, err := c.Meters(t.Context(), []string{scripts(t, steady, steady, steady)})
	if err != nil || len(absent) > 0 {
		t.Fatal(err, absent)
	}
	from, to, series := recorded(t, m, time.Second)
	for i, s := range series {
		host := c.Nodes[i].Host
		if s.Info != m.Infos()[i] || s.Info.Host != host || !strings.HasSuffix(s.Info.Name, strconv.Itoa(i)+" on "+host) ||
			!s.Info.Asked || !s.Info.ScopeStated || s.Info.Error != 0.01 {
			t.Errorf("meter %d: %+v", i, s.Info)
		}
		bound := s.Clock.Error.Seconds()
		if seconds := to.Sub(from).Seconds(); bound <= 0 || bound > seconds ||
			s.Clock.Offset.Seconds() < float64(i)*3600-2*bound || s.Clock.Drift < float64(i)/100-3*bound/1 ||
			s.Clock.Drift > float64(i)/100+3*bound/1 {
			t.Errorf("clock %d: %+v", i, *s.Clock)
		}
		for _, r := range s.Readings {
			if r.Value != float64(i+1)*100 || r.Time.Before(from.Add(-10*time.Second)) || r.Time.After(to.Add(s.Clock.Error)) {
				t.Errorf("meter %d: %+v, of a recording from %v to %v", i, r, from, to)
			}
		}
		n := len(s.Readings)
		a := must.Get(s.Energy(s.Readings[n/4].Time, s.Readings[n-1].Time))
		if a.Watts < float64(i+1)*100-1e-6 || a.Watts > float64(i+1)*100+1e-6 {
			t.Errorf("meter %d: %+v", i, a)
		}
	}
	must.Do(m.Close())
}

func TestNodesWithoutAMeterAreNamed(t *testing.T) {
	c, _ := start(t, config(3))
	const once = "exit 3"
	spec := scripts(t, "sleep 0.02", once) // the third node has none
	m, absent := must.Get2(c.Meters(t.Context(), []string{spec, "hwmon:device"}))
	last, missing := c.Nodes[2].Host, 0
	for _, a := range absent {
		if strings.HasPrefix(a.Source, "command") {
			missing++
			if !strings.HasSuffix(a.Source, "2 on "+last) || !a.Asked || !strings.Contains(a.Reason, "does not start") {
				t.Errorf("got %+v", a)
			}
		} else if a.Source != "hwmon:device on all hosts" || !a.Asked {
			t.Errorf("got %+v", a)
		}
	}
	if missing != 1 || len(absent) != 2 {
		t.Errorf("got %d absences of %s: %+v", missing, last, absent)
	}
	_, _, series := recorded(t, m, 300*time.Millisecond)
	if len(series) != 2 || len(series[0].Faults) > 0 || len(series[1].Faults) != 1 ||
		!strings.Contains(series[1].Faults[0].Text, "exit status 3") {
		t.Errorf("got %+v", series)
	}
	must.Do(m.Close())
	_, _, err := c.Meters(t.Context(), []string{"coal"})
	must.Fail(t, err, `unknown source "coal"`)
}
