package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tepsbench/teps/record"
)

func TestRunWritesFilesThatMatchSchema(t *testing.T) {
	host := hostOf(map[string]*serial{"a": {}}) // b is missing, and fails
	_, store, err := runs(t, t.Context(), host, planOf(8, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for name, definition := range map[string]string{
		record.ManifestFile: "manifest", record.JournalFile: "entry", record.ResultFile: "result",
	} {
		schema, err := jsonschema.NewCompiler().Compile("../docs/schema/teps-2.schema.json#/$defs/" + definition)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(store.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{data}
		if name == record.JournalFile {
			texts = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		}
		for _, text := range texts {
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err == nil {
				err = schema.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			values++
		}
	}
	if values < 60 {
		t.Errorf("%d values were validated, want those of two files and the lines of 64 roots", values)
	}
}
