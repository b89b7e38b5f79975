// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/power"
)

const (
	schemaFile       = "../docs/schema/teps-2.schema.json"
	resultsDirectory = "../docs/results"
)

// definition is a part of the schema, with the members that the tests use.
type definition struct {
	Ref                  string                `json:"$ref"`
	Type                 string                `json:"type"`
	Description          string                `json:"description"`
	Format               string                `json:"format"`
	Enum                 []string              `json:"enum"`
	Required             []string              `json:"required"`
	Properties           map[string]definition `json:"properties"`
	Items                *definition           `json:"items"`
	AdditionalProperties any                   `json:"additionalProperties"`
	Defs                 map[string]definition `json:"$defs"`
}

// TestSchemaMatchesTypes holds the schema and the Go types to each other: examples of the schema are read without a
// member that is missing or not known, and are written as they were. A new field needs a line in docs/schema.
func TestSchemaMatchesTypes(t *testing.T) {
	var schema definition
	must.Do(json.Unmarshal(must.Get(os.ReadFile(schemaFile)), &schema))
	unused := maps.Clone(schema.Defs)
	for name, def := range schema.Defs {
		if def.AdditionalProperties != false || def.Description == "" {
			t.Errorf("$defs/%s wants a description and \"additionalProperties\": false", name)
		}
		for member, property := range def.Properties {
			if property.Description == "" && !strings.Contains(property.Ref, "/properties/") {
				t.Errorf("$defs/%s/properties/%s has no description", name, member)
			}
		}
	}
	for name, into := range map[string]any{"manifest": &Manifest{}, "entry": &Entry{}, "result": &Result{}} {
		for _, full := range []bool{false, true} {
			example := schema.example(definition{Ref: "#/$defs/" + name}, full, unused)
			decoder := json.NewDecoder(bytes.NewReader(must.Get(json.Marshal(example))))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(into); err != nil {
				t.Errorf("$defs/%s and its Go type: %v", name, err)
			}
			var again any
			must.Do(json.Unmarshal(must.Get(json.Marshal(into)), &again))
			if diff := cmp.Diff(example, again); diff != "" {
				t.Errorf("$defs/%s, with all members: %v (-schema +Go type):\n%s", name, full, diff)
			}
		}
		for _, field := range unset(name, reflect.ValueOf(into).Elem()) {
			t.Errorf("%s has no property of its type in docs/schema; add one with a description and its unit", field)
		}
	}
	for name := range unused {
		t.Errorf("$defs/%s has no Go type", name)
	}
}

// example is a value of a definition with every member, or with as few as possible and zeros in them. It removes the
// definitions that it uses from unused.
func (s definition) example(d definition, full bool, unused map[string]definition) any {
	if d.Ref != "" { // #/$defs/NAME, or #/$defs/manifest/properties/NAME, because result.json repeats run.json
		path := strings.Split(d.Ref, "/")
		delete(unused, path[2])
		if d = s.Defs[path[2]]; len(path) > 3 {
			return s.example(d.Properties[path[4]], full, unused)
		}
	}
	members, elements := map[string]any{}, []any{}
	for name, property := range d.Properties {
		if full || slices.Contains(d.Required, name) {
			members[name] = s.example(property, full, unused)
		}
	}
	if full && d.Type == "array" {
		elements = append(elements, s.example(*d.Items, full, unused))
	}
	if values, ok := d.AdditionalProperties.(map[string]any); ok && full {
		members["x"] = s.example(definition{Type: values["type"].(string)}, full, unused)
	}
	switch {
	case d.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	case full && d.Enum != nil:
		return d.Enum[len(d.Enum)-1]
	case full:
		return map[string]any{"object": members, "array": elements, "string": "x", "boolean": true, "integer": 1.0,
			"number": 0.5}[d.Type]
	}
	return map[string]any{"object": members, "array": elements, "string": "", "boolean": false, "integer": 0.0,
		"number": 0.0}[d.Type]
}

// unset names the fields of a value, and of the values in it, that do not have a value of the example.
func unset(name string, v reflect.Value) (fields []string) {
	switch {
	case v.IsZero() || v.Kind() == reflect.Float64 && v.Float() != 0.5:
		return []string{name}
	case v.Kind() == reflect.Pointer:
		return unset(name, v.Elem())
	case v.Kind() == reflect.Slice:
		return unset(name, v.Index(0))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
				fields = append(fields, unset(name+"."+field.Name, v.Field(i))...)
			}
		}
	}
	return fields
}

// compiled returns the schemas of the three kinds of files.
func compiled() map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	all := map[string]*jsonschema.Schema{}
	for file, def := range map[string]string{ManifestFile: "manifest", JournalFile: "entry", ResultFile: "result"} {
		all[file] = must.Get(c.Compile(schemaFile + "#/$defs/" + def))
	}
	must.Get(c.Compile(schemaFile))
	return all
}

// checkDirectory validates every file of a record and returns the number of JSON values.
func checkDirectory(t *testing.T, schemas map[string]*jsonschema.Schema, dir string) (values int) {
	t.Helper()
	for name, schema := range schemas {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		texts := [][]byte{data}
		if name == JournalFile {
			texts = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		}
		for n, text := range texts {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err == nil {
				err = schema.Validate(value)
			}
			if err != nil {
				t.Errorf("%s, value %d: %v", filepath.Join(dir, name), n+1, err)
			}
			values++
		}
	}
	return values
}

// Records of earlier versions match the schema and are read.
func TestCommittedRecordsAreRead(t *testing.T) {
	schemas := compiled()
	directories := must.Get(Runs(resultsDirectory))
	values, searches, confirmed := 0, 0, 0
	for _, dir := range directories {
		values += checkDirectory(t, schemas, dir)
		r, err := Load(dir)
		if err != nil {
			t.Error(err)
		}
		for _, run := range r.Runs {
			searches += len(run.Roots)
			for _, root := range run.Roots {
				if root.Confirmed {
					confirmed++
				}
			}
		}
	}
	if len(directories) < 5 || values < 800 || searches < 500 || confirmed < 2 {
		t.Errorf("read only %d records with %d values, %d searches, %d of them confirmed", len(directories), values, searches,
			confirmed)
	}
}

func TestWrittenFilesMatchSchema(t *testing.T) {
	m, entries := officialRun()
	m.Machine = fullMachine
	s := must.Get(Create(t.TempDir(), m))
	energy := tenSeconds(meteredAs("node on n1", "ipmi", power.Node, 100, 50))
	energy.Meters[0].Meter.Host, energy.Meters[0].Clock = "n1", &power.Clock{Offset: -1, Drift: -1e-6, Error: 1}
	s.append(entries[1:68]...)
	s.append(Entry{Engine: "one", GraphID: six, Energy: energy}, entries[68])
	if n := checkDirectory(t, compiled(), s.finish()); n != 2+70 {
		t.Errorf("%d values were validated, want run.json, result.json and a line for each of 70 entries", n)
	}
}

// fullMachine has a value for every fact.
var fullMachine = machine.Machine{
	Hostname: "node1", CPU: "a processor", Sockets: 2, Cores: 8, Threads: 16, CacheBytes: 1 << 25, ClockMHz: 3700,
	SMT: "on", Governor: "performance", NUMANodes: 1, MemoryBytes: 1 << 35, HugePages: "madvise",
	OS: "linux/amd64", Kernel: "6.1", Virtual: "hypervisor flag set",
	GPUs: []machine.GPU{
		{Name: "NVIDIA H200", PCI: "10de:2335", Address: "0000:18:00.0", Driver: "NVIDIA 580.65.06"},
	},
}
