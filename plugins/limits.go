package plugins

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/graph"
)

// What an engine may answer at most, so that no engine fills the host's memory or its records.
// docs/writing-an-engine.md has the same table.
const (
	MaxName   = 128     // bytes of a name: of an engine, option, device, phase or detail
	MaxText   = 1024    // bytes of any other text
	MaxList   = 256     // elements of a list: options, choices, devices, details, phases
	MaxRanks  = 4096    // in a Traversal
	MaxLevels = 1 << 17 // in a Traversal, which reports none of more
	MaxNumber = 1 << 53 // of nanoseconds, bytes or anything that is counted: JSON holds these exactly
	MaxBits   = 64      // of a label
)

// Check returns an error that names the first field of d with an impossible value.
func (d Description) Check() error {
	var c checker
	c.word("name", d.Name)
	c.text("version", d.Version)
	c.text("summary", d.Summary)
	c.text("unavailable", d.Unavailable)
	c.length("number of devices", len(d.Devices), MaxList)
	for _, device := range d.Devices {
		c.name("device kind", device.Kind)
		c.name("device name", device.Name)
		c.number("device units", int64(device.Units))
		c.number("device memory", device.MemoryBytes)
		c.facts("device details", device.Details)
	}
	c.length("number of options", len(d.Options), MaxList)
	for _, option := range d.Options {
		c.option(option)
	}
	c.number("memory.fixed", d.Memory.Fixed)
	c.amount("memory.per_vertex", d.Memory.PerVertex)
	c.amount("memory.per_tuple", d.Memory.PerTuple)
	c.number("limits.vertices", d.Limits.Vertices)
	c.number("limits.tuples", d.Limits.Tuples)
	return c.err
}

// Check returns an error that names the first field of b with an impossible value.
func (b Construction) Check() error {
	var c checker
	c.number("elapsed", int64(b.Elapsed))
	c.number("bytes", b.Bytes)
	c.count("entries", b.Entries)
	c.phases("phases", b.Phases)
	c.length("parent_bits", b.Claims.ParentBits, MaxBits)
	c.length("vertex_bits", b.Claims.VertexBits, MaxBits)
	c.text("tuning", b.Claims.Tuning)
	c.facts("details", b.Details)
	return c.err
}

// Check returns an error that names the first field of t with an impossible value. parent is what the search has
// written: the frontiers are vertices that it has reached, each in one of them.
func (t Traversal) Check(parent []graph.Vertex) error {
	var c checker
	c.number("elapsed", int64(t.Elapsed))
	c.phases("phases", t.Phases)
	c.length("number of ranks", len(t.Ranks), MaxRanks)
	for _, rank := range t.Ranks {
		c.phases("rank phases", rank.Phases)
	}
	c.length("number of levels", len(t.Levels), MaxLevels)
	frontiers := int64(0)
	for _, level := range t.Levels {
		if level.Direction != graph.TopDown && level.Direction != graph.BottomUp {
			c.refuse("level direction", level.Direction, "top-down or bottom-up")
		}
		c.number("level frontier", level.Frontier)
		c.count("level edges", level.Edges)
		c.count("level bytes", level.Bytes)
		c.count("level messages", level.Messages)
		c.number("level elapsed", int64(level.Elapsed))
		c.phases("level phases", level.Phases)
		if frontiers += level.Frontier; frontiers > int64(len(parent)) {
			c.refuse("sum of the frontiers", frontiers, "at most the %d vertices", len(parent))
			break
		}
	}
	if len(t.Levels) > fewLevels && c.err == nil {
		reached := 0
		for _, v := range parent {
			if v != graph.Unreached {
				reached++
			}
		}
		c.length("number of levels", len(t.Levels), reached+1)
	}
	return c.err
}

// fewLevels need no comparison with the number of vertices that were reached, which takes a look at every vertex.
const fewLevels = 64

// checker remembers the first value that is impossible.
type checker struct{ err error }

func (c *checker) refuse(field string, value any, want string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s is %v; want %s", field, value, fmt.Sprintf(want, args...))
	}
}

func (c *checker) number(field string, n int64) {
	if n < 0 || n > MaxNumber {
		c.refuse(field, n, "a number from 0 to 2^53")
	}
}

func (c *checker) count(field string, n Count) { c.number(field, n.n) }

func (c *checker) amount(field string, x float64) {
	if !(x >= 0 && x <= MaxNumber) {
		c.refuse(field, x, "a number from 0 to 2^53")
	}
}

func (c *checker) length(field string, n, limit int) {
	if n < 0 || n > limit {
		c.refuse(field, n, "a number from 0 to %d", limit)
	}
}

func (c *checker) text(field, s string) { c.line(field, s, MaxText) }
func (c *checker) name(field, s string) { c.line(field, s, MaxName) }

func (c *checker) line(field, s string, limit int) {
	switch quoted := fmt.Sprintf("%.40q", s); {
	case len(s) > limit:
		c.refuse(field, quoted+"...", "at most %d bytes, not %d", limit, len(s))
	case !utf8.ValidString(s):
		c.refuse(field, quoted, "text in UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		c.refuse(field, quoted, "one line without control characters")
	}
}

func (c *checker) word(field, s string) {
	c.name(field, s)
	if !regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(s) {
		c.refuse(field, fmt.Sprintf("%.40q", s), "a word of lower-case letters, digits, - and _")
	}
}

func (c *checker) option(o Option) {
	c.word("option name", o.Name)
	if !slices.Contains([]Kind{Int, Float, Bool, Choice, Text}, o.Kind) {
		c.refuse("option kind", fmt.Sprintf("%.40q", o.Kind), "int, float, bool, choice or text")
	}
	for _, x := range []*float64{o.Min, o.Max} {
		if x != nil && (math.IsNaN(*x) || math.IsInf(*x, 0)) {
			c.refuse("bound of option "+o.Name, *x, "a number")
		}
	}
	if o.Min != nil && o.Max != nil && *o.Min > *o.Max {
		c.refuse("minimum of option "+o.Name, *o.Min, "at most its maximum, %v", *o.Max)
	}
	for _, text := range append([]string{o.Default, o.Meaning, o.Divides, o.Needs}, o.Choices...) {
		c.text("text of option "+o.Name, text)
	}
	c.length("number of choices of option "+o.Name, len(o.Choices), MaxList)
}

func (c *checker) facts(field string, facts []Fact) {
	c.length("number of "+field, len(facts), MaxList)
	for _, fact := range facts {
		c.name(field, fact.Name)
		c.text(field, fact.Value)
	}
}

func (c *checker) phases(field string, phases []Phase) {
	c.length("number of "+field, len(phases), MaxList)
	for _, phase := range phases {
		c.name(field, phase.Name)
		c.number(field, int64(phase.Elapsed))
		c.number(field, int64(phase.Slowest))
		c.count(field, phase.Bytes)
		c.count(field, phase.Messages)
	}
}
