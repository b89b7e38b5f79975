package plugins

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tepsbench/teps/graph"
)

func TestSwitchOptionsDescribeARule(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want graph.Switch
	}{
		{nil, graph.Switch{Alpha: 20, Beta: 18}},
		{map[string]string{"direction": "auto", "alpha": "3", "beta": "0"}, graph.Switch{Alpha: 3}},
		{map[string]string{"direction": "topdown"}, graph.Switch{Alpha: 20, Beta: 18, Steps: graph.OnlyTopDown}},
		{map[string]string{"direction": "bottomup"}, graph.Switch{Alpha: 20, Beta: 18, Steps: graph.OnlyBottomUp}},
	} {
		s, err := Resolve(SwitchOptions("20", "18"), c.set)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, s.Switch()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.set, diff)
		}
	}
}
