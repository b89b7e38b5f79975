package power

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// Config says which meters to look for, and where. Its zero value finds every meter that this machine has.
type Config struct {
	// Root is the folder in which sys, proc and dev lie. Empty: "/".
	Root string
	// Meters are specifications as Grammar explains them. Empty: everything that can be found in the machine ("auto"), and
	// nothing that somebody would have to tell.
	Meters []string
}

// Find opens meters and says of every source that gives none why. The error is for a specification that is wrong, and says
// what would be right; nothing is left open then. The caller closes the meters.
//
// A source that was asked for and is not there is an Absence that says so (Asked), not an error.
func Find(ctx context.Context, c Config) ([]Meter, []Absence, error) {
	asked, err := parseAll(c.Meters)
	if err != nil {
		return nil, nil, err
	}
	tree := os.DirFS(cmp.Or(c.Root, "/"))
	var meters []Meter
	var absences []Absence
	open := func(s spec, named bool) {
		found, missing := s.find(ctx, tree, c.Root)
		kept := found[:0]
		for _, m := range found {
			if _, ok := m.(told); !ok && s.scope != "" && m.Info().Scope != s.scope {
				_ = m.Close()
				continue
			}
			kept = append(kept, rate(m, s.error))
		}
		if named && len(kept) == 0 {
			reason := fmt.Sprintf("none of the %d meters that were found has the scope %s", len(found), s.scope)
			if len(missing) > 0 {
				reason = missing[0].Reason
			}
			absences = append(absences, Absence{Source: s.text, Reason: reason, Asked: true})
			return
		}
		meters, absences = append(meters, kept...), append(absences, missing...)
	}
	for _, s := range asked {
		if s.source != "auto" {
			open(s, true)
			continue
		}
		for _, source := range foundSources {
			open(spec{text: source, source: source}, false)
		}
	}
	meters, doubles := unique(meters)
	for i, m := range meters {
		meters[i] = exclusive(m)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, errors.Join(err, Close(meters))
	}
	return meters, append(absences, doubles...), nil
}

// parseAll understands what was asked for. What is named twice is meant once.
func parseAll(texts []string) ([]spec, error) {
	if len(texts) == 0 {
		texts = []string{"auto"}
	}
	var all []spec
	for i, text := range texts {
		s, err := parseSpec(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(texts[:i], text) {
			all = append(all, s)
		}
	}
	return all, nil
}

// told is a meter of whose scope the user is the source.
type told interface{ told() }

func (s spec) find(ctx context.Context, tree fs.FS, root string) ([]Meter, []Absence) {
	switch s.source {
	case "rapl":
		return findRAPL(tree)
	case "nvml":
		if root != "" && root != "/" {
			return nil, []Absence{{Source: "nvml", Reason: "the driver's library is asked, not files, so " + root + " holds none"}}
		}
		return findNVML(openNVML)
	case "hwmon":
		return findHwmon(tree)
	case "battery":
		return findBattery(tree)
	case "ipmi":
		return findIPMI(ctx, tree)
	case "redfish", "redfish-insecure":
		return findRedfish(ctx, s, os.Getenv)
	case "command":
		return openCommand(ctx, s)
	case "stream":
		return openStream(ctx, s)
	case "model":
		return openModel(tree, s)
	default:
		return []Meter{declared{s.scope, s.watts}}, nil
	}
}

// unique closes meters of a name that another has: two specifications can ask for the same source, and two drivers can
// show the same counter.
func unique(meters []Meter) ([]Meter, []Absence) {
	seen := map[string]bool{}
	var kept []Meter
	var absences []Absence
	for _, m := range meters {
		i := m.Info()
		if seen[i.Name] {
			_ = m.Close()
			absences = append(absences, Absence{Source: i.Source, Reason: fmt.Sprintf("%s is there twice; the second (%s) is left out", i.Name, i.Detail)})
			continue
		}
		seen[i.Name] = true
		kept = append(kept, m)
	}
	return kept, absences
}

// Close closes all meters.
func Close(meters []Meter) error {
	errs := make([]error, len(meters))
	var wait sync.WaitGroup
	for i, m := range meters { // a command may take a second to end
		wait.Go(func() { errs[i] = m.Close() })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// guarded keeps a meter to one call at a time: a read that hangs may still be in it when the next recording begins.
type guarded struct {
	Meter
	busy chan struct{} // holds one while a call is in the meter
}

var errHangs = errors.New("an earlier read has not come back yet")

func exclusive(m Meter) Meter {
	g := guarded{m, make(chan struct{}, 1)}
	if p, ok := m.(Paced); ok {
		return guardedPaced{g, p.Pace()}
	}
	return g
}

type guardedPaced struct {
	guarded
	pace time.Duration
}

func (g guardedPaced) Pace() time.Duration { return g.pace }

func (g guarded) Read(ctx context.Context) ([]Reading, error) {
	select {
	case g.busy <- struct{}{}:
	default:
		return nil, errHangs
	}
	defer func() { <-g.busy }()
	return g.Meter.Read(ctx)
}

// Close waits for a read that may still be on its way, and leaves the meter open when it does not come back.
func (g guarded) Close() error {
	select {
	case g.busy <- struct{}{}:
	case <-time.After(readLimit):
		return fmt.Errorf("%s is left open: %w", g.Info().Name, errHangs)
	}
	defer func() { <-g.busy }()
	return g.Meter.Close()
}
