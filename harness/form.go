package harness

import (
	"fmt"
	"strconv"
	"strings"
)

// Schema names the form of every record this version writes: teps/MAJOR.MINOR; teps/1 is teps/1.0.
//
// A minor number is raised when members or kinds of journal entries are added. A reader takes every minor number of its
// major one, and passes over members and entries that it does not know. A major number is raised when something that was
// there means something else or is gone, and a reader refuses another major number. docs/records.md has the history, and
// docs/schema the members.
const Schema = "teps/1.1"

// form is a Schema taken apart.
type form struct{ major, minor int }

func parseForm(schema string) (f form, ok bool) {
	numbers, ok := strings.CutPrefix(schema, "teps/")
	if !ok {
		return f, false
	}
	major, minor, dotted := strings.Cut(numbers, ".")
	var err error
	if f.major, err = strconv.Atoi(major); err != nil || f.major < 1 {
		return f, false
	}
	if dotted {
		if f.minor, err = strconv.Atoi(minor); err != nil || f.minor < 0 {
			return f, false
		}
	}
	return f, true
}

// thisForm is what this version writes.
func thisForm() form {
	f, _ := parseForm(Schema)
	return f
}

// readForm takes the schema of a record that this version can read.
func readForm(schema string) (form, error) {
	f, ok := parseForm(schema)
	switch {
	case !ok:
		return f, fmt.Errorf("not a record of teps (schema %q, want %q)", schema, Schema)
	case f.major != thisForm().major:
		return f, fmt.Errorf("the record has the form %s and this teps reads %s; read it with the version that wrote it", schema, Schema)
	}
	return f, nil
}

// newer says that the record may hold what this version does not know.
func (f form) newer() bool { return f.minor > thisForm().minor }

// sealed says whether records of the form have seals: all but those of the first release.
func (f form) sealed() bool { return f.minor >= 1 }
