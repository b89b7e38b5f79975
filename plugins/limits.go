// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tepsbench/teps/graph"
)

// Limits of an engine's answers, so that no engine fills the host's memory or its records.
// docs/writing-an-engine.md has the same table.
const (
	MaxName   = 128     // bytes of a name: of an engine, option, device, phase or detail
	MaxText   = 1024    // bytes of any other text
	MaxList   = 256     // elements of a list: options, choices, devices, details, phases
	MaxRanks  = 4096    // in a Traversal
	MaxLevels = 1 << 17 // in a Traversal; one of a deeper search has no levels
	MaxNumber = 1 << 53 // of nanoseconds, bytes or anything that is counted: JSON holds these exactly
	MaxBits   = 64      // of a label
)

// fewLevels is the largest number of levels that is not compared with the number of reached vertices, because counting
// these takes time.
const fewLevels = 64

// Check returns an error that names the first field of d with an impossible value.
func (d Description) Check() error {
	if err := checkFields(d); err != nil {
		return err
	}
	word := regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	if !word.MatchString(d.Name) {
		return fmt.Errorf("name is %q; want a word of lower-case letters, digits, - and _", d.Name)
	}
	for i, o := range d.Options {
		switch {
		case !word.MatchString(o.Name):
			return fmt.Errorf("options[%d].name is %q; want a word of lower-case letters, digits, - and _", i, o.Name)
		case slices.ContainsFunc(d.Options[:i], func(before Option) bool { return before.Name == o.Name }):
			return fmt.Errorf("options[%d].name is %q, as of an option before it; want different names", i, o.Name)
		case !slices.Contains([]Kind{Int, Float, Bool, Choice, Text}, o.Kind):
			return fmt.Errorf("options[%d].kind is %.40q; want int, float, bool, choice or text", i, o.Kind)
		case len(o.Limits) != 0 && len(o.Limits) != len(o.Choices):
			return fmt.Errorf("options[%d].limits has %d elements; want none, or one for each of the %d choices", i,
				len(o.Limits), len(o.Choices))
		case o.Min != nil && o.Max != nil && *o.Min > *o.Max:
			return fmt.Errorf("options[%d].min is %v; want at most max, %v", i, *o.Min, *o.Max)
		}
	}
	return nil
}

// Check returns an error that names the first field of b with an impossible value.
func (b Construction) Check() error {
	if bits := max(b.Claims.ParentBits, b.Claims.VertexBits); bits > MaxBits {
		return fmt.Errorf("claims: parent_bits or vertex_bits is %d; want a number from 0 to %d", bits, MaxBits)
	}
	return checkFields(b)
}

// Check returns an error that names the first field of t with an impossible value. parent is what kernel 2 has written:
// the frontiers are vertices that it has reached, each in one of them. It is nil for kernel 3, and for one of several
// processes of an engine.
func (t Traversal) Check(parent []graph.Vertex) error {
	for i, level := range t.Levels {
		if level.Direction != graph.TopDown && level.Direction != graph.BottomUp {
			return fmt.Errorf("levels[%d].direction is %v; want top-down or bottom-up", i, level.Direction)
		}
	}
	if err := checkFields(t); err != nil || parent == nil {
		return err
	}
	frontiers := int64(0)
	for _, level := range t.Levels {
		if frontiers += level.Frontier; frontiers > int64(len(parent)) {
			return fmt.Errorf("sum of the frontiers is %d; want at most the %d vertices", frontiers, len(parent))
		}
	}
	if len(t.Levels) <= fewLevels {
		return nil
	}
	reached := 0
	for _, v := range parent {
		if v != graph.Unreached {
			reached++
		}
	}
	if len(t.Levels) > reached+1 {
		return fmt.Errorf("levels has %d elements; want at most %d, because %d vertices were reached",
			len(t.Levels), reached+1, reached)
	}
	return nil
}

// checkFields checks every number, text and list in answer. Fields have their names in JSON and in engine.proto.
func checkFields(answer any) error {
	if path, problem := firstProblem(reflect.ValueOf(answer), MaxText); problem != "" {
		return fmt.Errorf("%s %s", strings.TrimPrefix(path, "."), problem)
	}
	return nil
}

// firstProblem returns the path of the first impossible value in v, and the problem if there is one. A text may have
// textLimit bytes.
func firstProblem(v reflect.Value, textLimit int) (path, problem string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field, limit := v.Field(i), MaxText
			if field.Kind() == reflect.String && slices.Contains([]string{"Name", "Kind"}, v.Type().Field(i).Name) {
				limit = MaxName
			}
			if path, problem = firstProblem(field, limit); problem != "" {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
				switch name {
				case "": // of a Count
					return path, problem
				case "-": // no record has it
					name = strings.ToLower(v.Type().Field(i).Name)
				}
				return "." + name + path, problem
			}
		}
	case reflect.Slice:
		limit := MaxList
		switch v.Type() {
		case reflect.TypeFor[[]Level]():
			limit = MaxLevels
		case reflect.TypeFor[[]Rank]():
			limit = MaxRanks
		}
		if v.Len() > limit {
			return "", fmt.Sprintf("has %d elements; want at most %d", v.Len(), limit)
		}
		for i := range v.Len() {
			if path, problem = firstProblem(v.Index(i), MaxText); problem != "" {
				return fmt.Sprintf("[%d]%s", i, path), problem
			}
		}
	case reflect.String:
		switch text := v.String(); {
		case len(text) > textLimit:
			return "", fmt.Sprintf("is %.40q...; want at most %d bytes, not %d", text, textLimit, len(text))
		case !utf8.ValidString(text):
			return "", fmt.Sprintf("is %.40q; want text in UTF-8", text)
		case strings.ContainsFunc(text, unicode.IsControl):
			return "", fmt.Sprintf("is %.40q; want one line without control characters", text)
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); n < 0 || n > MaxNumber {
			return "", fmt.Sprintf("is %d; want a number from 0 to 2^53", n)
		}
	case reflect.Float64:
		if x := v.Float(); !(x >= 0 && x <= MaxNumber) {
			return "", fmt.Sprintf("is %v; want a number from 0 to 2^53", x)
		}
	case reflect.Pointer: // a bound of an option
		if !v.IsNil() && (math.IsNaN(v.Elem().Float()) || math.IsInf(v.Elem().Float(), 0)) {
			return "", fmt.Sprintf("is %v; want a number", v.Elem().Float())
		}
	}
	return "", ""
}
