package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Bounds on an entry of the journal, so that an engine cannot fill the disk or make a record that cannot be read.
const (
	maxText     = 1000     // bytes of a text
	maxList     = 4096     // entries of a list: ranks, phases, options, ...
	maxLine     = 16 << 20 // bytes; 4,096 ranks with ten phases take a quarter of it
	extraLevels = 2        // that a search may report beyond its depth
	maxCuts     = 16       // notes in a Run
)

// line returns e as a line of the journal. It first cuts, in place, what is too long: a text says so itself, and a list
// is noted in e.Cut.
func (e *Entry) line() ([]byte, error) {
	if r := e.Root; r != nil && r.Depth != nil {
		e.shorten("levels", reflect.ValueOf(&r.Levels).Elem(), *r.Depth+1+extraLevels)
	}
	for limit := maxList; ; limit /= 8 {
		e.cut("", reflect.ValueOf(e).Elem(), limit)
		data, err := json.Marshal(e)
		if err != nil || len(data) < maxLine || limit == 0 {
			return append(data, '\n'), err
		}
	}
}

// cut cuts the texts and lists within v, a value of a name in JSON.
func (e *Entry) cut(name string, v reflect.Value, limit int) {
	switch v.Kind() {
	case reflect.Pointer:
		e.cut(name, v.Elem(), limit)
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
				e.cut(name, value, limit)
			}
		}
	case reflect.Slice:
		e.shorten(name, v, limit)
		for i := range v.Len() {
			e.cut(name, v.Index(i), limit)
		}
	case reflect.Map: // of texts by name
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key).String()
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(cutText(key.String())), reflect.ValueOf(cutText(value)))
		}
	case reflect.String:
		v.SetString(cutText(v.String()))
	}
}

// shorten cuts a list to its first entries.
func (e *Entry) shorten(name string, list reflect.Value, limit int) {
	if n := list.Len(); n > limit {
		list.SetLen(limit)
		e.Cut = append(e.Cut, fmt.Sprintf("%s: the first %d of %d are kept", name, limit, n))
	}
}

func cutText(s string) string {
	if len(s) <= maxText {
		return s
	}
	note := fmt.Sprintf("... (cut, %d bytes)", len(s))
	return strings.ToValidUTF8(s[:maxText-len(note)], "") + note
}
