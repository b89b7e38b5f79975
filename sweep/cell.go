package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tepsbench/teps/harness"
)

// Cell is one run of a sweep: one engine with its options, at one scale, for the n-th time.
type Cell struct {
	Plan    harness.Plan // of one engine and one scale
	Repeat  int          // from 1
	Version string       // of the engine, as it says
	Folder  string       // name of the run's folder in a store; see name
}

// Engine is the cell's engine.
func (c Cell) Engine() harness.EngineSpec { return c.Plan.Engines[0] }

// Scale is the cell's scale.
func (c Cell) Scale() int { return c.Plan.Scales[0] }

// Tuples is the length of the cell's input.
func (c Cell) Tuples() int64 { return c.Plan.Recipe(c.Scale()).Tuples() }

// name gives the cell its folder. The name ends in a checksum of everything that makes a measurement the same one: the
// plan with the engine's options and the checksum of its program, which repeat it is, the build of teps (which built-in
// engines are part of) and the machine. So two processes agree on the folder without talking to each other, a cell
// that is done is found again, and a change of any of these makes another cell instead of a false one.
func (c *Cell) name(software harness.Software, machine harness.Machine) error {
	program := software.Program
	if program == "" {
		program = software.String()
	}
	data, err := json.Marshal(struct {
		Plan                      harness.Plan
		Repeat                    int
		Program, Machine, Version string
	}{c.Plan, c.Repeat, program, machine.Identity(), c.Version})
	if err != nil {
		return fmt.Errorf("sweep: the identity of %s at scale %d: %w", c.Engine().Name, c.Scale(), err)
	}
	sum := sha256.Sum256(data)
	c.Folder = fmt.Sprintf("s%02d-%s-r%d-%s", c.Scale(), readable(c.Engine().Name), c.Repeat, hex.EncodeToString(sum[:6]))
	return nil
}

// readable makes an engine's name fit for a part of a file name, on any system and in any shell.
func readable(name string) string {
	const longest = 60
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-', r == '=':
			return r
		}
		return '-'
	}, name)
	return name[:min(len(name), longest)]
}

// same says whether a record is that of the cell, whatever its folder is called.
func (c Cell) same(m harness.Manifest) bool {
	a, errA := json.Marshal(c.Plan)
	b, errB := json.Marshal(m.Plan)
	return errA == nil && errB == nil && string(a) == string(b)
}
