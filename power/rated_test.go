package power

import (
	"strings"
	"testing"
)

func TestTheErrorOfAMeterCanBeStated(t *testing.T) {
	for text, want := range map[string]struct {
		scope Scope
		error float64
		value string
	}{
		"command:wall@1%=./pdu.sh --port 3": {Wall, 0.01, "./pdu.sh --port 3"},
		"stream:node@0.5%=/run/a@b.csv":     {Node, 0.005, "/run/a@b.csv"},
		"ipmi:node@5%":                      {Node, 0.05, ""},
		"redfish:node@3%=https://bmc":       {Node, 0.03, "https://bmc"},
		"command:wall=./pdu.sh a@b":         {Wall, 0, "./pdu.sh a@b"},
	} {
		s, err := parseSpec(text)
		if err != nil || s.scope != want.scope || s.error != want.error || s.value != want.value {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"command:wall@=x", "command:wall@2=x", "command:wall@0%=x", "command:wall@-1%=x", "command:wall@NaN%=x", "command:wall@100%=x"} {
		if _, err := parseSpec(text); err == nil || !strings.Contains(err.Error(), "write for example @2%") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"declared:wall@2%=350", "model:package@2%=20-65"} {
		if _, err := parseSpec(text); err == nil || !strings.Contains(err.Error(), "not measured") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestARatedMeterKeepsItsPace(t *testing.T) {
	meters, _, err := Find(t.Context(), Config{Meters: []string{"declared:wall=100"}})
	if err != nil {
		t.Fatal(err)
	}
	defer Close(meters)
	plain := meters[0]
	r := rate(plain, 0.02)
	_, before := plain.(Paced)
	_, after := r.(Paced)
	if before != after || r.Info().Error != 0.02 || r.Info().Name != plain.Info().Name || plain.Info().Error != 0 {
		t.Errorf("paced %v then %v, %+v", before, after, r.Info())
	}
	if rate(plain, 0) != plain {
		t.Error("a meter of which nothing is stated is wrapped")
	}
}
