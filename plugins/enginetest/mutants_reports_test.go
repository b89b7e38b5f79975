package enginetest

import (
	"math"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
)

// wrongReports are mutants that say something untrue or malformed about themselves or their work.
func wrongReports() map[string]wrong {
	return map[string]wrong{
		"searches longer than the call": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) { t.Elapsed += time.Second }),
			map[string]string{"time/search": "at most the call's"}},
		"searches in no time": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) { t.Elapsed = 0 }),
			map[string]string{"time/search": "above 0"}},
		"gives microseconds for nanoseconds": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Elapsed = max(1, t.Elapsed/1000)
		}), map[string]string{"time/unit": "is it in nanoseconds?"}},
		"has levels longer than the search": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Levels[0].Elapsed = t.Elapsed + 1
		}), map[string]string{"time/search": "levels' times within Traversal.Elapsed"}},
		"has a level before its time": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) { t.Levels[0].Elapsed = -1 }),
			map[string]string{"time/search": "want no negative time"}},
		"has phases longer than their level": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Levels[0].Phases = []plugins.Phase{{Name: "scan", Elapsed: t.Levels[0].Elapsed}, {Name: "rest", Elapsed: 1}}
		}), map[string]string{"time/search": "level 0: want the 2 phases' times within"}},
		"constructs longer than the call": {built(func(c *plugins.Construction) { c.Elapsed *= 1000 }),
			map[string]string{"time/construct": "at most the call's"}},
		"constructs in no time": {built(func(c *plugins.Construction) { c.Elapsed = 0 }),
			map[string]string{"time/construct": "above 0"}},
		"has phases without names": {built(func(c *plugins.Construction) { c.Phases = []plugins.Phase{{Elapsed: 1}} }),
			map[string]string{"time/construct": "want a name and a time for each phase"}},
		"counts the frontier one too high": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Levels[len(t.Levels)-1].Frontier++
		}), map[string]string{"levels/frontiers": "want a frontier of"}},
		"leaves out two levels": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Levels = t.Levels[:max(1, len(t.Levels)-2)]
		}), map[string]string{"levels/frontiers": "levels (or one less"}},
		"goes in no direction": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) { t.Levels[0].Direction = 2 }),
			map[string]string{"levels/frontiers": "got Direction(2)"}},
		"looks at fewer than no edges": {after(func(_ graph.Vertex, _ []graph.Vertex, t *plugins.Traversal) {
			t.Levels[0].Edges = plugins.Counted(-1)
		}), map[string]string{"levels/frontiers": "want a number of edges"}},
		"holds nothing":        {built(func(c *plugins.Construction) { c.Bytes = 0 }), map[string]string{"construct/report": "Construction.Bytes"}},
		"invents entries":      {built(func(c *plugins.Construction) { c.Entries = plugins.Counted(1 << 40) }), map[string]string{"construct/report": "Construction.Entries"}},
		"claims no width":      {built(func(c *plugins.Construction) { c.Claims.ParentBits = 0 }), map[string]string{"construct/report": "Claims.ParentBits"}},
		"claims bits as bytes": {built(func(c *plugins.Construction) { c.Claims.VertexBits = 4 }), map[string]string{"construct/report": "Claims.VertexBits"}},
		"claims no tuning":     {built(func(c *plugins.Construction) { c.Claims.Tuning = "" }), map[string]string{"construct/report": "Claims.Tuning"}},
		"has a name of two words": {said(func(d *plugins.Description) { d.Name = "Serial Engine" }),
			map[string]string{"describe/words": "one lower-case word, got \"Serial Engine\""}},
		"has no version":               {said(func(d *plugins.Description) { d.Version = "" }), map[string]string{"describe/words": "Description.Version"}},
		"needs no memory":              {said(func(d *plugins.Description) { d.Memory = plugins.Memory{} }), map[string]string{"describe/words": "want Memory"}},
		"needs an unknown memory":      {said(func(d *plugins.Description) { d.Memory.PerTuple = math.NaN() }), map[string]string{"describe/words": "Memory.PerTuple"}},
		"has a device of no kind":      {said(func(d *plugins.Description) { d.Devices = []plugins.Device{{Name: "x"}} }), map[string]string{"describe/words": "device 0"}},
		"has an option twice":          {said(func(d *plugins.Description) { d.Options = append(d.Options, d.Options[0]) }), map[string]string{"describe/options": "a name of its own"}},
		"has an impossible default":    {said(func(d *plugins.Description) { d.Options[0].Default = "sideways" }), map[string]string{"describe/options": "passes its own check"}},
		"has an option of no kind":     {said(func(d *plugins.Description) { d.Options[1].Kind = "number" }), map[string]string{"describe/options": "a known kind"}},
		"has an option with a capital": {said(func(d *plugins.Description) { d.Options[0].Name = "Order" }), map[string]string{"describe/options": "a name of one lower-case word"}},
		"has an option of no meaning":  {said(func(d *plugins.Description) { d.Options[1].Meaning = "" }), map[string]string{"describe/options": "a meaning"}},
		"has bounds for a choice":      {said(func(d *plugins.Description) { d.Options[0].Min = plugins.Bound(1) }), map[string]string{"describe/options": "bounds for numbers only"}},
		"has bounds the wrong way round": {said(func(d *plugins.Description) { d.Options[1].Min = plugins.Bound(2000) }),
			map[string]string{"describe/options": "Min at most Max"}},
		"has choices for a number": {said(func(d *plugins.Description) { d.Options[1].Choices = []string{"1"} }),
			map[string]string{"describe/options": "choices for the kind choice"}},
		"has a choice twice": {said(func(d *plugins.Description) { d.Options[0].Choices = []string{"forward", "forward"} }),
			map[string]string{"describe/options": "each choice once"}},
		"has a detail without a name": {built(func(c *plugins.Construction) { c.Details = []plugins.Fact{{Value: "3"}} }),
			map[string]string{"construct/report": "a name for each detail"}},
		"has a device detail without a name": {said(func(d *plugins.Description) {
			d.Devices = []plugins.Device{{Kind: "cpu", Name: "x", Details: []plugins.Fact{{Value: "3"}}}}
		}), map[string]string{"describe/words": "a name for each detail"}},
		"has no summary": {said(func(d *plugins.Description) { d.Summary = "" }), map[string]string{"describe/words": "Description.Summary"}},
	}
}
