package power

import (
	"errors"
	"strings"
	"testing"
)

func TestSpecsAreUnderstood(t *testing.T) {
	for text, want := range map[string]spec{
		"auto":                         {source: "auto"},
		"rapl":                         {source: "rapl"},
		"rapl:package":                 {source: "rapl", scope: Package},
		"nvml":                         {source: "nvml"},
		"redfish=https://bmc.example":  {source: "redfish", scope: Node, value: "https://bmc.example"},
		"command:wall=./meter.sh -i 1": {source: "command", scope: Wall, value: "./meter.sh -i 1"},
		"command:wall=./m --key=value": {source: "command", scope: Wall, value: "./m --key=value"},
		"stream:node=/run/pdu.csv":     {source: "stream", scope: Node, value: "/run/pdu.csv"},
		"declared:wall=350.5":          {source: "declared", scope: Wall, value: "350.5", watts: 350.5},
		"model:package=20-65":          {source: "model", scope: Package, value: "20-65", watts: 20, loaded: 65},
		"model:package=0-65":           {source: "model", scope: Package, value: "0-65", loaded: 65},
	} {
		got, err := parseSpec(text)
		if err != nil || got.source != want.source || got.scope != want.scope || got.value != want.value || got.watts != want.watts || got.loaded != want.loaded || got.text != text {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if s, _ := parseSpec("command:wall=./m  --key=value x"); strings.Join(s.arguments, "|") != "./m|--key=value|x" {
		t.Errorf("%q", s.arguments)
	}
}

func TestSpecsThatAreWrongSayWhatWouldBeRight(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "sources are auto, rapl, nvml",
		"rappl":                          `there is no source "rappl"; sources are`,
		"rapl:cpu":                       `there is no scope "cpu"; scopes are package, core`,
		"rapl=package":                   "takes no value; write rapl or rapl:SCOPE",
		"auto:package":                   "auto stands alone",
		"auto=1":                         "auto stands alone",
		"command":                        "write for example command:wall=./meter.sh",
		"command:wall=":                  "write for example command:wall=./meter.sh",
		"command:wall=   ":               "write for example command:wall=./meter.sh",
		"command=./meter.sh":             "say what it covers; write for example command:wall=./meter.sh",
		"stream=/run/pdu.csv":            "say what it covers; write for example stream:wall=/run/pdu.csv",
		"declared:wall=much":             "write for example declared:wall=350",
		"declared:wall=-1":               "write for example declared:wall=350",
		"declared:wall=NaN":              "write for example declared:wall=350",
		"declared:wall=Inf":              "write for example declared:wall=350",
		"declared:wall=0":                `"0" are no watts; write for example declared:wall=350`,
		"declared:wall=-0":               "write for example declared:wall=350",
		"declared:wall=1e-300":           "write for example declared:wall=350",
		"declared=350":                   "write for example declared:wall=350",
		"model:package=65":               "write for example model:package=20-65",
		"model:package=65-20":            "write for example model:package=20-65",
		"model:package=a-b":              "write for example model:package=20-65",
		"model:package=0-0":              `"0-0" are no watts of an idle and a busy machine; write for example model:package=20-65`,
		"redfish=bmc.example":            "write for example redfish=https://bmc.example",
		"redfish=ftp://bmc.example":      "write for example redfish=https://bmc.example",
		"redfish":                        "write for example redfish=https://bmc.example",
		"redfish=https://me:secret@bmc/": "set TEPS_REDFISH_USER and TEPS_REDFISH_PASSWORD",
	} {
		_, err := parseSpec(text)
		if !contains(err, want) || contains(err, "secret") {
			t.Errorf("%q: %v", text, err)
		}
		if meters, _, err := Find(t.Context(), Config{Meters: []string{"declared:wall=1", text}}); err == nil || meters != nil {
			t.Errorf("%q: Find gives %d meters, %v", text, len(meters), err)
		}
	}
}

func TestGrammarNamesEverySource(t *testing.T) {
	for _, source := range append(foundSources, toldSources...) {
		if !strings.Contains(Grammar, source) {
			t.Errorf("the help does not name %s", source)
		}
	}
	for line := range strings.Lines(Grammar) {
		if len(line) > 130 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}

func TestFindLooksForWhatIsInTheMachine(t *testing.T) {
	m := unpack(t, "two-packages")
	other := unpack(t, "sensors")
	for _, root := range []string{m.root, other.root} {
		meters, absences, err := Find(t.Context(), Config{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, meters)
		sources := map[string]bool{}
		for _, m := range meters {
			if i := m.Info(); i.Method == Declared || i.Name == "" || i.Detail == "" {
				t.Errorf("%+v", i)
			}
			sources[m.Info().Source] = true
		}
		for _, a := range absences {
			if a.Asked || a.Reason == "" {
				t.Errorf("%+v", a)
			}
			sources[a.Source] = true
		}
		for _, source := range foundSources {
			if !sources[source] {
				t.Errorf("%s is neither there nor absent", source)
			}
		}
	}
}

func TestFindTakesPartsOfASource(t *testing.T) {
	m := unpack(t, "two-packages")
	find := func(specs ...string) ([]Meter, []Absence) {
		meters, absences, err := Find(t.Context(), Config{Root: m.root, Meters: specs})
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, meters)
		return meters, absences
	}
	if meters, _ := find("rapl:package"); len(meters) != 2 || meters[0].Info().Scope != Package {
		t.Errorf("%d packages", len(meters))
	}
	if meters, _ := find("rapl:dram", "rapl:package", "rapl:dram"); len(meters) != 4 {
		t.Errorf("%d packages and memories", len(meters))
	}
	meters, absences := find("rapl", "rapl:package", "declared:wall=350")
	if len(meters) != 8 || !contains(errors.New(reasons(absences)), "rapl:package-0 is there twice") {
		t.Errorf("%d meters, %s", len(meters), reasons(absences))
	}
	if i := byName(meters)["declared:wall"].Info(); i.Method != Declared || i.Scope != Wall {
		t.Errorf("%+v", i)
	}
	if w := only(t, byName(meters)["declared:wall"]); w != 350 {
		t.Errorf("%v W", w)
	}
	meters, absences = find("hwmon", "rapl:gpu")
	if len(meters) != 0 || len(absences) != 2 || !absences[0].Asked || !absences[1].Asked ||
		absences[0].Source != "hwmon" || absences[1].Source != "rapl:gpu" {
		t.Errorf("%d meters, %+v", len(meters), absences)
	}
}
