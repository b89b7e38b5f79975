// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"context"
	"encoding/json"
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
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
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
	data := must.Get(proto.Marshal(message))
	return []byte(strings.NewReplacer(oldnew...).Replace(string(data)))
}

// crosses checks that a value is the same after it was written, sent and read. A value that was made up may be
// impossible; then conversions return it all the same.
func crosses[T any, M proto.Message](t *testing.T, want T, write func(T) M, read func(M) (T, error)) {
	t.Helper()
	sent := write(want)
	back := sent.ProtoReflect().New().Interface()
	must.Do(proto.Unmarshal(marshal(sent), back))
	got, err := read(back.(M))
	diff := cmp.Diff(want, got, cmp.AllowUnexported(plugins.Count{}))
	if err != nil && !errors.Is(err, ErrAnswer) || diff != "" {
		t.Errorf("%T: %v (-sent +received):\n%s", want, err, diff)
	}
}

func TestEveryFieldCrossesTheWire(t *testing.T) {
	recipe := filled[graph.Kronecker]()
	readRecipe := func(w *enginepb.Recipe) (*graph.Kronecker, error) { return recipes.value(w), nil }
	readTraversal := func(w *enginepb.Traversal) (plugins.Traversal, error) { return traversals.value(w), nil }
	for _, description := range []plugins.Description{filled[plugins.Description](), {Name: "nothing-else"}} {
		crosses(t, description, descriptions.message, descriptionFromWire)
	}
	for _, construction := range []plugins.Construction{filled[plugins.Construction](), {}} {
		crosses(t, construction, constructions.message, constructionFromWire)
	}
	for _, traversal := range []plugins.Traversal{
		filled[plugins.Traversal](), {Levels: []plugins.Level{{}, {Edges: plugins.Counted(0)}}},
	} {
		crosses(t, traversal, traversals.message, readTraversal)
	}
	crosses(t, &recipe, recipes.message, readRecipe)
	crosses(t, filled[plugins.Place](), places.message,
		func(w *enginepb.Place) (plugins.Place, error) { return places.value(w), nil })
	crosses(t, filled[validate.Violation](), violations.message,
		func(w *enginepb.Violation) (validate.Violation, error) { return violations.value(w), nil })
	if recipes.value(recipes.message(nil)) != nil {
		t.Error("a missing recipe has become one")
	}
}

// A library uses an infinite bound for an option with only one bound. Records cannot hold infinities.
func TestInfiniteBoundsBecomeNil(t *testing.T) {
	d := must.Get(descriptionFromWire(descriptions.message(plugins.Description{Name: "a", Options: []plugins.Option{
		{Name: "b", Kind: plugins.Int, Min: plugins.Bound(0), Max: plugins.Bound(math.Inf(1))},
		{Name: "c", Kind: plugins.Int, Min: plugins.Bound(math.Inf(-1)), Max: plugins.Bound(9)},
	}})))
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
		got, ok := FromStatus(ToStatus(c.sent))
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
			got, ok := FromStatus(ToStatus(sentinel))
			if !ok || errors.Is(got, other) != (sentinel == other) {
				t.Errorf("%v has become %v", sentinel, got)
			}
		}
	}
	if ToStatus(nil) != nil {
		t.Error("nil has become an error")
	}
	if _, ok := FromStatus(io.EOF); ok {
		t.Error("a fault of the transport was taken for an answer")
	}
}

// liar is a server that gives its answers without checking them.
type liar struct {
	enginepb.UnimplementedEngineServer
}

func (liar) Describe(context.Context, *enginepb.DescribeRequest) (*enginepb.Description, error) {
	return descriptions.message(plugins.Description{Name: strings.Repeat("a", 1e7)}), nil
}

func (liar) Construct(context.Context, *enginepb.ConstructRequest) (*enginepb.Construction, error) {
	return nil, &engineError{text: strings.Repeat("a", 3e6)}
}

func (liar) Close(context.Context, *enginepb.CloseRequest) (*enginepb.CloseReply, error) {
	return &enginepb.CloseReply{}, nil
}

func TestAnswersOfOtherServersAreChecked(t *testing.T) {
	s := newStage(t)
	client := s.open("lies in its answers")
	for _, c := range []struct{ call, want string }{
		{"describe", "larger than max"}, {"construct", ""},
	} {
		err := s.call(t.Context(), client, c.call)
		if !errors.Is(err, ErrAnswer) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > maxText+200 {
			t.Errorf("%s: got %.300v, want ErrAnswer with %q", c.call, err, c.want)
		}
	}
	text := codec{}.Unmarshal(marshal(&enginepb.Description{Version: "??"}, "??", "\xff\xfe"), &enginepb.Description{})
	if text == nil || !strings.Contains(text.Error(), "field teps.engine.v1.Description.version contains invalid UTF-8") {
		t.Errorf("invalid UTF-8: got %v", text)
	}
	lent := func(count int64, handle int) error {
		tuples := &enginepb.DeviceTuples{Handle: make([]byte, handle), Count: count}
		return must.Err(lentFromWire(&enginepb.LendReply{Tuples: tuples}))
	}
	for _, bad := range []error{
		lent(1, 0), lent(-1, 1), lent(1, maxHandle+1),
		must.Err(treeFromWire(&enginepb.Verdict{Reached: -1})),
		must.Err(treeFromWire(&enginepb.Verdict{Depth: -1})),
		must.Err(treeFromWire(&enginepb.Verdict{Farthest: float32(math.NaN())})),
		must.Err(descriptionFromWire(&enginepb.Description{Name: "a b"})),
		must.Err(constructionFromWire(&enginepb.Construction{ElapsedNs: -1})),
		must.Err(searchesFromWire(&enginepb.RepeatReply{Searches: -1})),
		must.Err(searchesFromWire(&enginepb.RepeatReply{Searches: plugins.MaxNumber + 1})),
		checkTraversal(traversals.value(&enginepb.Traversal{ElapsedNs: -1}), plugins.Output{}, false),
	} {
		must.Is(t, bad, ErrAnswer)
	}
}

// FuzzAnswers gives the host answers of any bytes. It must refuse or convert them, and what it accepts fits into a
// record: JSON can hold it, and its size is bounded.
func FuzzAnswers(f *testing.F) {
	f.Add(byte(0), marshal(descriptions.message(filled[plugins.Description]())))
	f.Add(byte(1), marshal(constructions.message(filled[plugins.Construction]())))
	f.Add(byte(2), marshal(traversals.message(filled[plugins.Traversal]())))
	f.Add(byte(2), marshal(traversals.message(plugins.Traversal{Elapsed: -1})))
	parent := []graph.Vertex{0, 0, graph.Unreached}
	f.Fuzz(func(t *testing.T, call byte, data []byte) {
		wire := []proto.Message{&enginepb.Description{}, &enginepb.Construction{}, &enginepb.Traversal{}}[call%3]
		if proto.Unmarshal(data, wire) != nil {
			return
		}
		var accepted any
		var err error
		switch wire := wire.(type) {
		case *enginepb.Description:
			accepted, err = descriptionFromWire(wire)
		case *enginepb.Construction:
			accepted, err = constructionFromWire(wire)
		case *enginepb.Traversal:
			t := traversals.value(wire)
			accepted, err = t, checkTraversal(t, plugins.Output{Parent: parent}, false)
		}
		if err != nil {
			if !errors.Is(err, ErrAnswer) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %q", err)
			}
			return
		}
		text := must.Get(json.Marshal(accepted))
		var again any
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}

// An engine that passes the conformance suite inside a process also passes it behind the connection, where one graph is
// like another. With -short only the cases run in which several goroutines of the host take part.
func TestEngineConformsThroughAChildProcess(t *testing.T) {
	s := newStage(t)
	open := func(context.Context) (plugins.Engine, error) { return s.open("serial"), nil }
	cases := []string{"graph/kronecker-10", "search/*", "repeat/cancel", "construct/again", "cancel/*",
		"paths/again", "close/*"}
	if !testing.Short() {
		cases = append(cases, "describe/*", "graph/kronecker-12", "paths/[^e]*", "repeat/*", "construct/*", "options/*",
			"report/*")
		memory := must.Get(enginetest.Select("stress/memory"))
		if o := memory[0].Run(t.Context(), open, nil, enginetest.Limit); o.Err != nil {
			t.Error(o.Err)
		}
	}
	enginetest.TestQuick(t, open, cases)
}

var (
	_ plugins.Lender       = (*Client)(nil)
	_ enginetest.Footprint = (*Client)(nil)
)
