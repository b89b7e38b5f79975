package power

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Grammar explains how a meter is asked for, for the help of commands.
const Grammar = `A meter is asked for as SOURCE[:SCOPE][=VALUE]. Sources in the machine, where SCOPE picks some of what is found:
  auto                        every source of this list that is found (what is read when nothing is said)
  rapl, rapl:package          energy counters of processor packages, their parts and memory
  nvml                        NVIDIA GPUs
  hwmon, battery, ipmi        sensors of drivers and boards, the battery, the board's controller (ipmitool)
Sources outside, where SCOPE says what they cover (wall, node, gpu, ...):
  redfish=URL                 a board's controller over HTTPS; TEPS_REDFISH_USER and TEPS_REDFISH_PASSWORD log in;
                              redfish-insecure=URL takes any certificate
  command:SCOPE=PROGRAM ARGS  a program that prints lines "timestamp,watts" or "timestamp,watts,joules"
  stream:SCOPE=FILE           a file or named pipe that such lines are written to
Behind SCOPE, @2% states the error of the meter as its maker does: ipmi:node@3%, command:wall@1%=./pdu.sh
Not measured, and labelled so wherever they are shown:
  declared:SCOPE=WATTS        a constant that somebody states
  model:SCOPE=IDLE-MAX        stated watts of an idle and of a busy machine, by the utilisation of its processors`

// A spec is what somebody asked for.
type spec struct {
	text          string
	source        string
	scope         Scope // empty: not said
	value         string
	error         float64  // relative, as its maker states it; 0: not said
	arguments     []string // command
	watts, loaded float64  // declared; model: idle and busy
	url           *url.URL // redfish
}

var (
	foundSources = []string{"rapl", "nvml", "hwmon", "battery", "ipmi"}
	toldSources  = []string{"redfish", "redfish-insecure", "command", "stream", "declared", "model"}
	scopes       = []Scope{Package, Core, Uncore, DRAM, SoC, GPU, Device, Node, Wall}
)

func parseSpec(text string) (spec, error) {
	wrong := func(format string, args ...any) (spec, error) {
		return spec{}, fmt.Errorf("meter %q: %s", text, fmt.Sprintf(format, args...))
	}
	head, value, hasValue := strings.Cut(strings.TrimSpace(text), "=")
	source, scope, hasScope := strings.Cut(head, ":")
	scope, accuracy, hasError := strings.Cut(scope, "@")
	s := spec{text: text, source: source, scope: Scope(scope), value: strings.TrimSpace(value)}
	found := slices.Contains(foundSources, source)
	switch {
	case source == "auto" && (hasScope || hasValue):
		return wrong("auto stands alone; for one source write for example rapl:package")
	case source == "auto":
		return s, nil
	case !found && !slices.Contains(toldSources, source):
		return wrong("there is no source %q; sources are auto, %s, %s", source, strings.Join(foundSources, ", "), strings.Join(toldSources, ", "))
	case hasScope && !slices.Contains(scopes, s.scope):
		return wrong("there is no scope %q; scopes are %s", scope, joinScopes())
	case hasError && (source == "declared" || source == "model"):
		return wrong("it is not measured, so it has no error that could be stated; leave out @%s", accuracy)
	case found && hasValue:
		return wrong("%s is found in the machine and takes no value; write %s or %s:SCOPE", source, source, source)
	case hasError:
		var err error
		if s.error, err = parseError(accuracy); err != nil {
			return wrong("%v", err)
		}
	}
	switch {
	case found:
		return s, nil
	case s.value == "":
		return wrong("a value is missing; write for example %s", examples(source))
	case !hasScope && strings.HasPrefix(source, "redfish"):
		s.scope = Node
	case !hasScope:
		return wrong("say what it covers; write for example %s", examples(source))
	}
	var err error
	switch source {
	case "redfish", "redfish-insecure":
		s.url, err = url.Parse(s.value)
		switch {
		case err != nil || s.url.Scheme != "https" && s.url.Scheme != "http" || s.url.Host == "":
			return wrong("the value is no address; write for example %s", examples(source))
		case s.url.User != nil:
			return spec{}, fmt.Errorf("meter %s=...: name and password do not belong into the address, where others can read them; set %s and %s",
				head, redfishUser, redfishPassword)
		}
	case "command":
		s.arguments = strings.Fields(s.value)
	case "declared":
		if s.watts, err = parseWatts(s.value); err != nil || s.watts < leastStated {
			return wrong("%q are no watts; write for example %s", s.value, examples(source))
		}
	case "model":
		idle, busy, ok := strings.Cut(s.value, "-")
		s.watts, err = parseWatts(idle)
		if ok && err == nil {
			s.loaded, err = parseWatts(busy)
		}
		if !ok || err != nil || s.loaded < s.watts || s.loaded < leastStated {
			return wrong("%q are no watts of an idle and a busy machine; write for example %s", s.value, examples(source))
		}
	}
	return s, nil
}

func examples(source string) string {
	return source + map[string]string{
		"redfish": "=https://bmc.example", "redfish-insecure": "=https://bmc.example", "command": ":wall=./meter.sh",
		"stream": ":wall=/run/pdu.csv", "declared": ":wall=350", "model": ":package=20-65",
	}[source]
}

func joinScopes() string {
	all := make([]string, len(scopes))
	for i, s := range scopes {
		all[i] = string(s)
	}
	return strings.Join(all, ", ")
}

// leastStated is the smallest power, in watts, that somebody can state: no machine runs on less, and rates cannot be divided by
// nothing.
const leastStated = 1e-6

// parseWatts takes what a power can be: a finite number that is not negative.
func parseWatts(text string) (float64, error) {
	w, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(w >= 0 && w < 1e9) {
		return 0, fmt.Errorf("%q is no power in watts", text)
	}
	return w, nil
}
