package plugins

import "github.com/tepsbench/teps/graph"

// SwitchOptions returns the options of a graph.Switch, which have the same names and meanings in every engine:
// direction, alpha and beta. Thresholds belong to an engine, so it passes its defaults.
func SwitchOptions(alpha, beta string) []Option {
	const automatic = "direction=auto"
	return []Option{
		{Name: "direction", Kind: Choice, Default: "auto", Choices: []string{"auto", "topdown", "bottomup"},
			Meaning: "steps that a search takes: auto chooses by alpha and beta; the others never switch, from level 0 on"},
		{Name: "alpha", Kind: Float, Default: alpha, Min: Bound(0), Max: Bound(1e9), Needs: automatic,
			Meaning: "switch to bottom-up when a growing frontier has more than 1/alpha of the unexplored edges; 0 is never"},
		{Name: "beta", Kind: Float, Default: beta, Min: Bound(0), Max: Bound(1e9), Needs: automatic,
			Meaning: "switch back to top-down when a shrinking frontier has less than 1/beta of the vertices; 0 is at once"},
	}
}

// Switch returns the rule that the options of SwitchOptions describe.
func (s Settings) Switch() graph.Switch {
	rule := graph.Switch{Alpha: s.Float("alpha"), Beta: s.Float("beta")}
	switch s.Text("direction") {
	case "topdown":
		rule.Steps = graph.OnlyTopDown
	case "bottomup":
		rule.Steps = graph.OnlyBottomUp
	}
	return rule
}
