// Package meters finds and opens power meters: the sensors of this machine, board controllers, and programs of the
// user.
//
// Each source of meters is a file with one function that returns a Source. Sources lists them, and is the only place
// that names them: a new source is a new file and a line there.
package meters

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tepsbench/teps/power"
)

// auto is the specification of all local sources.
const auto = "auto"

// Sources returns all sources of meters.
func Sources() []Source {
	return []Source{
		raplSource(), nvmlSource(), hwmonSource(), ipmiSource(),
		redfishSource("redfish", "a board; "+redfishUser+" and _PASSWORD log in", false),
		redfishSource("redfish-insecure", "the same, accepting any certificate", true), commandSource(),
	}
}

// A Source is a kind of meter.
type Source struct {
	Name string
	Help string // what it reads, in one line
	// Example shows how to ask for a source that needs a value, such as an address. Empty: the source needs none,
	// because it searches this machine.
	Example string
	// Scope is what the meters of a source with a value cover unless the user states it. Empty: the user must.
	Scope power.Scope
	// Check rejects values that cannot be right, before any meter is opened. Nil: all values may be.
	Check func(value string) error
	// Open opens the meters of the source. It may return both meters and an error, which says why there are no others;
	// if several reasons are joined (errors.Join), each is reported on its own.
	Open func(ctx context.Context, r Request) ([]power.Meter, error)
}

// Request is what a source needs to open its meters.
type Request struct {
	Root  string // directory that holds the machine's sys, proc and dev: "/" unless it is a test
	Scope power.Scope
	Value string
}

// files returns the files under r.Root.
func (r Request) files() fs.FS { return os.DirFS(r.Root) }

// local reports whether the source searches this machine, as opposed to using what the user names.
func (s Source) local() bool { return s.Example == "" }

// Help explains how to ask for meters of the given sources, for the help of commands.
func Help(sources []Source) string {
	var b strings.Builder
	line := func(usage, help string) { fmt.Fprintf(&b, "  %-27s %s\n", usage, help) }
	b.WriteString("A meter is written SOURCE[:SCOPE][=VALUE].\n")
	b.WriteString("These sources search this machine, and SCOPE keeps some of the meters found:\n")
	line(auto, "all of these sources (the default)")
	for _, s := range sources {
		if s.local() {
			line(s.Name, s.Help)
		}
	}
	b.WriteString("These need a VALUE, and SCOPE states what they cover; for example:\n")
	for _, s := range sources {
		if !s.local() {
			line(s.Example, s.Help)
		}
	}
	fmt.Fprintf(&b, "Scopes: %s.\n", scopeNames())
	b.WriteString("SCOPE@2% states the error of a meter as given by its maker:\n  ipmi:node@3%, command:wall@1%=./pdu.sh")
	return b.String()
}

func scopeNames() string {
	var names []string
	for _, s := range power.Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
