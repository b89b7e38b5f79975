// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// filled returns a value in which every field is set, to detect fields that are not converted.
func filled[T any]() T {
	var n int64
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch v.Interface().(type) {
		case plugins.Count:
			v.Set(reflect.ValueOf(plugins.Counted(n)))
			return
		case graph.Direction:
			v.Set(reflect.ValueOf(graph.BottomUp))
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0))
			fill(v.Index(1))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case reflect.String:
			v.SetString(fmt.Sprint("text-", n))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(n)
		case reflect.Uint64:
			v.SetUint(uint64(n))
		case reflect.Float64:
			v.SetFloat(float64(n) + 0.5)
		default:
			panic("filled does not know " + v.Type().String())
		}
	}
	var value T
	fill(reflect.ValueOf(&value).Elem())
	return value
}

// marshal returns a message in bytes, with changes.
func marshal(message proto.Message, oldnew ...string) []byte {
	data := must(proto.Marshal(message))
	return []byte(strings.NewReplacer(oldnew...).Replace(string(data)))
}

// throughWire marshals and unmarshals a message.
func throughWire[M proto.Message](t *testing.T, message M) M {
	t.Helper()
	back := message.ProtoReflect().New().Interface()
	check(t, proto.Unmarshal(marshal(message), back))
	return back.(M)
}

// possible says that an answer that was made up may be impossible: conversions return it all the same.
func possible(err error) error {
	if errors.Is(err, ErrAnswer) {
		return nil
	}
	return err
}

func same[T any](t *testing.T, want, got T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%T: %v", want, err)
	} else if diff := cmp.Diff(want, got, cmp.AllowUnexported(plugins.Count{})); diff != "" {
		t.Errorf("%T (-sent +received):\n%s", want, diff)
	}
}

func TestEveryFieldCrossesTheWire(t *testing.T) {
	description := filled[plugins.Description]()
	gotDescription, err := descriptionFromWire(throughWire(t, descriptionToWire(description)))
	same(t, description, gotDescription, possible(err))

	construction := filled[plugins.Construction]()
	gotConstruction, err := constructionFromWire(throughWire(t, constructionToWire(construction)))
	same(t, construction, gotConstruction, err)

	traversal := filled[plugins.Traversal]()
	gotTraversal, err := traversalFromWire(throughWire(t, traversalToWire(traversal)), nil)
	same(t, traversal, gotTraversal, possible(err))

	recipe := filled[graph.Kronecker]()
	same(t, &recipe, recipeFromWire(throughWire(t, recipeToWire(&recipe))), nil)
}

func TestWhatIsMissingStaysMissing(t *testing.T) {
	want := plugins.Traversal{Levels: []plugins.Level{{}, {Edges: plugins.Counted(0)}}}
	got, err := traversalFromWire(throughWire(t, traversalToWire(want)), nil)
	same(t, want, got, err)

	description, err := descriptionFromWire(&enginepb.Description{Name: "nothing-else"})
	same(t, plugins.Description{Name: "nothing-else"}, description, err)
	construction, err := constructionFromWire(&enginepb.Construction{})
	same(t, plugins.Construction{}, construction, err)
	if recipeFromWire(recipeToWire(nil)) != nil {
		t.Error("a missing recipe has become one")
	}
}

// A library uses an infinite bound for an option with only one bound. Records cannot hold infinities.
func TestInfiniteBoundsBecomeNil(t *testing.T) {
	d, err := descriptionFromWire(descriptionToWire(plugins.Description{Name: "a", Options: []plugins.Option{
		{Name: "b", Kind: plugins.Int, Min: plugins.Bound(0), Max: plugins.Bound(math.Inf(1))},
		{Name: "c", Kind: plugins.Int, Min: plugins.Bound(math.Inf(-1)), Max: plugins.Bound(9)},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := d.Options[0], d.Options[1]; *a.Min != 0 || a.Max != nil || b.Min != nil || *b.Max != 9 {
		t.Errorf("got %s and %s", a.Takes(), b.Takes())
	}
}

func TestFailuresCrossTheWire(t *testing.T) {
	for _, c := range []struct {
		sent  error
		words string
	}{
		{fmt.Errorf("cpu: %w and %w", plugins.ErrMemory, context.Canceled), "cpu: not enough memory and context canceled"},
		{io.EOF, "EOF"},
		{errors.New("\xff"), "?"},
		{errors.New(strings.Repeat("x", 1<<20)), strings.Repeat("x", maxText) + " ..."},
	} {
		got, ok := fromStatus(toStatus(c.sent))
		if !ok || got.Error() != c.words {
			t.Errorf("got %v (an answer: %v), want %q", got, ok, c.words)
		}
		for _, sentinel := range failureKinds() {
			if errors.Is(got, sentinel) != errors.Is(c.sent, sentinel) {
				t.Errorf("%v: wraps %v, or does not any more", c.words, sentinel)
			}
		}
	}
	for _, sentinel := range failureKinds() {
		for _, other := range failureKinds() {
			got, ok := fromStatus(toStatus(sentinel))
			if !ok || errors.Is(got, other) != (sentinel == other) {
				t.Errorf("%v has become %v", sentinel, got)
			}
		}
	}
	if toStatus(nil) != nil {
		t.Error("nil has become an error")
	}
	if _, ok := fromStatus(io.EOF); ok {
		t.Error("a fault of the transport was taken for an answer")
	}
}
