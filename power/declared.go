package power

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

const (
	declaredPace = 100 * time.Millisecond
	modelPeriod  = 200 * time.Millisecond
)

// declared is a constant that somebody stated: it measures nothing.
type declared struct {
	scope Scope
	watts float64
}

func (declared) told() {}

func (d declared) Info() Info {
	return Info{Name: "declared:" + string(d.scope), Source: "declared", Scope: d.scope, Method: Declared, Quantity: Power,
		Period: declaredPace, Detail: formatFloat(d.watts) + " W, as somebody stated"}
}

func (declared) Pace() time.Duration { return declaredPace }
func (declared) Close() error        { return nil }

func (d declared) Read(context.Context) ([]Reading, error) {
	return []Reading{{Time: time.Now(), Value: d.watts}}, nil
}

// model is a line between the stated watts of an idle and of a busy machine, by the utilisation of the processors since the last
// reading. What a processor does in the time that it is busy is not seen: published models of this kind are off by
// tens of per cent.
type model struct {
	info       Info
	tree       fs.FS
	idle, busy float64 // watts
	last       cpuTime
}

// cpuTime is time of all processors since the machine started, in ticks of the kernel.
type cpuTime struct{ idle, all float64 }

func openModel(tree fs.FS, s spec) ([]Meter, []Absence) {
	m := &model{tree: tree, idle: s.watts, busy: s.loaded, info: Info{
		Name: "model:" + string(s.scope), Source: "model", Scope: s.scope, Method: Estimated, Quantity: Power, Period: modelPeriod,
		Detail: fmt.Sprintf("between %s W idle and %s W busy, as somebody stated, by the processors' utilisation", formatFloat(s.watts), formatFloat(s.loaded)),
	}}
	var err error
	if m.last, err = readCPUTime(tree); err != nil {
		return nil, []Absence{{Source: s.source, Reason: "the utilisation is not known: " + err.Error()}}
	}
	return []Meter{m}, nil
}

func (*model) told()                 {}
func (m *model) Info() Info          { return m.info }
func (m *model) Pace() time.Duration { return modelPeriod }
func (m *model) Close() error        { return nil }

func (m *model) Read(context.Context) ([]Reading, error) {
	begin := time.Now()
	now, err := readCPUTime(m.tree)
	if err != nil {
		return nil, err
	}
	all, idle := now.all-m.last.all, now.idle-m.last.idle
	if all <= 0 { // no tick has passed
		return nil, nil
	}
	m.last = now
	busy := min(max(1-idle/all, 0), 1)
	window := time.Since(begin)
	return []Reading{{Time: begin.Add(window / 2), Value: m.idle + busy*(m.busy-m.idle), Window: window}}, nil
}

// readCPUTime reads the first line of /proc/stat: cpu user nice system idle iowait irq softirq steal, and guests, whose time is
// in user and nice already (proc_stat(5)).
func readCPUTime(tree fs.FS) (cpuTime, error) {
	text, err := fs.ReadFile(tree, "proc/stat")
	if err != nil {
		return cpuTime{}, errors.New("/proc/stat cannot be read (only Linux has it)")
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return cpuTime{}, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var c cpuTime
	for i, field := range fields[1:min(len(fields), 9)] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return cpuTime{}, fmt.Errorf("/proc/stat begins with %q", line)
		}
		c.all += ticks
		if i == 3 || i == 4 {
			c.idle += ticks
		}
	}
	return c, nil
}
