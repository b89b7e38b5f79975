// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/machine"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/power"
)

const (
	schemaFile    = "../docs/schema/teps-2.schema.json"
	resultsFolder = "../docs/results"
)

// definition is a part of $defs, with the members that the tests use.
type definition struct {
	Ref                  string                `json:"$ref"`
	Type                 any                   `json:"type"`
	Description          string                `json:"description"`
	Format               string                `json:"format"`
	Required             []string              `json:"required"`
	Properties           map[string]definition `json:"properties"`
	Items                *definition           `json:"items"`
	AdditionalProperties any                   `json:"additionalProperties"`
}

func definitions(t *testing.T) map[string]definition {
	t.Helper()
	data := must.Get(os.ReadFile(schemaFile))
	var schema struct {
		Defs map[string]definition `json:"$defs"`
	}
	must.Do(json.Unmarshal(data, &schema))
	return schema.Defs
}

// TestSchemaMatchesTypes holds the schema and the Go types to each other. A new field needs a line in
// docs/schema: the error says where and which.
func TestSchemaMatchesTypes(t *testing.T) {
	defs := definitions(t)
	seen := map[string]bool{}
	var visit func(reflect.Type)
	visit = func(structure reflect.Type) {
		name := defName(structure)
		if seen[name] {
			return
		}
		seen[name] = true
		def, ok := defs[name]
		if !ok {
			t.Errorf("%s: no $defs/%s in %s", structure, name, schemaFile)
			return
		}
		if def.AdditionalProperties != false || def.Description == "" {
			t.Errorf("$defs/%s wants a description and \"additionalProperties\": false", name)
		}
		var fields, required []string
		for _, f := range reflect.VisibleFields(structure) {
			if f.Anonymous || !f.IsExported() {
				continue
			}
			member, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if member == "-" {
				continue
			}
			if member == "" {
				t.Errorf("%s.%s has no name in JSON", structure, f.Name)
				continue
			}
			fields = append(fields, member)
			if option == "" {
				required = append(required, member)
			}
			property, ok := def.Properties[member]
			if !ok {
				t.Errorf("%s.%s: $defs/%s has no property %q; add one with a description and its unit, such as\n%q: %s",
					structure, f.Name, name, member, member, propertyOf(f.Type))
				continue
			}
			if strings.HasPrefix(property.Ref, "#/$defs/manifest/properties/") { // result.json repeats run.json
				if property.Ref != "#/$defs/manifest/properties/"+member {
					t.Errorf("$defs/%s/properties/%s refers to %s", name, member, property.Ref)
				}
				continue
			}
			if property.Description == "" {
				t.Errorf("$defs/%s/properties/%s has no description", name, member)
			}
			if want := propertyOf(f.Type); shape(property) != want {
				t.Errorf("$defs/%s/properties/%s is %s, and the field is %s", name, member, shape(property), want)
			}
			if inner := element(f.Type); isStructure(inner) {
				visit(inner)
			}
		}
		for _, member := range slices.Sorted(maps.Keys(def.Properties)) {
			if !slices.Contains(fields, member) {
				t.Errorf("$defs/%s has a property %q, but %s has no such field", name, member, structure)
			}
		}
		if slices.Sort(required); !slices.Equal(required, slices.Sorted(slices.Values(def.Required))) {
			t.Errorf("$defs/%s requires %v; without omitempty are %v", name, def.Required, required)
		}
	}
	for _, root := range []any{Manifest{}, Entry{}, Result{}} {
		visit(reflect.TypeOf(root))
	}
	for name := range defs {
		if !seen[name] {
			t.Errorf("$defs/%s has no Go type", name)
		}
	}
}

// defName is the name of a type in $defs: RootRecord is root_record, NUMANode numa_node.
func defName(structure reflect.Type) string {
	name := regexp.MustCompile(`([A-Z]+)([A-Z][a-z])|([a-z0-9])([A-Z])`).
		ReplaceAllString(structure.Name(), "${1}${3}_${2}${4}")
	return strings.ToLower(name)
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func isStructure(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && t != reflect.TypeFor[plugins.Count]()
}

// propertyOf describes a Go type in JSON, in the form of shape.
func propertyOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "date-time"
	case t == reflect.TypeFor[plugins.Count]():
		return "integer"
	case t == reflect.TypeFor[graph.Direction]():
		return "string"
	case isStructure(t):
		return "#/$defs/" + defName(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return propertyOf(t.Elem())
	case reflect.Slice:
		return "array of " + propertyOf(t.Elem())
	case reflect.Map:
		return "object of " + propertyOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	}
	return "unknown " + t.String()
}

func shape(d definition) string {
	switch {
	case d.Ref != "":
		return d.Ref
	case d.Format != "":
		return d.Format
	case d.Type == "array" && d.Items != nil:
		return "array of " + shape(*d.Items)
	case d.Type == "object":
		values, _ := d.AdditionalProperties.(map[string]any)
		kind, _ := values["type"].(string)
		return "object of " + kind
	}
	kind, _ := d.Type.(string)
	return kind
}

// compiled returns the schemas of the three kinds of files.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	all := map[string]*jsonschema.Schema{}
	for file, def := range map[string]string{ManifestFile: "manifest", JournalFile: "entry", ResultFile: "result"} {
		s := must.Get(c.Compile(schemaFile + "#/$defs/" + def))
		all[file] = s
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
	schemas := compiled(t)
	folders := must.Get(Runs(resultsFolder))
	values, searches, confirmed := 0, 0, 0
	for _, dir := range folders {
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
	if len(folders) < 5 || values < 800 || searches < 500 || confirmed < 2 {
		t.Errorf("read only %d records with %d values, %d searches, %d of them confirmed", len(folders), values, searches,
			confirmed)
	}
}

func TestWrittenFilesMatchSchema(t *testing.T) {
	m, entries := officialRun()
	m.Machine = fullMachine
	s := must.Get(Create(t.TempDir(), m))
	energy := tenSeconds(meteredAs("node on n1", "ipmi", power.Node, 100, 50))
	energy.Meters[0].Meter.Host, energy.Meters[0].Clock = "n1", &power.Clock{Offset: -1, Drift: -1e-6, Error: 1}
	s.append(t, entries[1:68]...)
	s.append(t, Entry{Engine: "one", GraphID: six, Energy: energy}, entries[68])
	if n := checkDirectory(t, compiled(t), s.finish(t)); n != 2+70 {
		t.Errorf("%d values were validated, want run.json, result.json and a line for each of 70 entries", n)
	}
}

// fullMachine has a value for every fact.
var fullMachine = machine.Machine{
	Hostname: "node1", CPU: "a processor", Sockets: 2, Cores: 8, Threads: 16, CacheBytes: 1 << 25, ClockMHz: 3700,
	SMT: "on", Governor: "performance", NUMANodes: 1, MemoryBytes: 1 << 35, HugePages: "madvise",
	OS: "linux/amd64", Kernel: "6.1", Virtual: "hypervisor flag set",
	MemorySpeed: &machine.MemorySpeed{Bandwidth: 2e11, RandomReads: 1e9, Bytes: 1 << 30, Threads: 16},
	GPUs: []machine.GPU{
		{Name: "NVIDIA H200", PCI: "10de:2335", Address: "0000:18:00.0", Driver: "NVIDIA 580.65.06"},
	},
}
