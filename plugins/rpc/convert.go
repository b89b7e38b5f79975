// SPDX-License-Identifier: Apache-2.0

package rpc

// Conversions between the types of package plugins and their wire format. Impossible values (plugins/limits.go) are
// refused with ErrAnswer, by the host and before they are sent.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// codec is gRPC's own, but its error names the field of an invalid text.
type codec struct{}

func (codec) Name() string                  { return "proto" }
func (codec) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }

func (codec) Unmarshal(data []byte, v any) error {
	message := v.(proto.Message)
	if proto.Unmarshal(data, message) == nil {
		return nil
	}
	return proto.Unmarshal(data, dynamicpb.NewMessage(message.ProtoReflect().Descriptor()))
}

// each converts the elements of a list. An empty list becomes nil.
func each[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = convert(a)
	}
	return converted
}

// copier returns a function that copies a value of a type of package plugins to one of a message, or the other way
// around. Fields with the same name in Go are the same, but a time's name in a message ends with Ns. A field that only
// one of the two has is left out, and an empty list becomes nil. Both values must be addressable.
func copier(target, source reflect.Type) func(to, from reflect.Value) {
	count := reflect.TypeFor[plugins.Count]()
	switch {
	case source == target:
		return func(to, from reflect.Value) { to.Set(from) }
	case source == count:
		return func(to, from reflect.Value) {
			if n, known := from.Addr().Interface().(*plugins.Count).Get(); known {
				to.Set(reflect.ValueOf(&n))
			}
		}
	case target == count:
		return func(to, from reflect.Value) {
			if !from.IsNil() {
				*to.Addr().Interface().(*plugins.Count) = plugins.Counted(from.Elem().Int())
			}
		}
	case source.Kind() == reflect.Pointer:
		set := copier(target, source.Elem())
		return func(to, from reflect.Value) {
			if !from.IsNil() {
				set(to, from.Elem())
			}
		}
	case target.Kind() == reflect.Pointer:
		set := copier(target.Elem(), source)
		return func(to, from reflect.Value) {
			to.Set(reflect.New(target.Elem()))
			set(to.Elem(), from)
		}
	case target.Kind() == reflect.Slice:
		set := copier(target.Elem(), source.Elem())
		return func(to, from reflect.Value) {
			if n := from.Len(); n > 0 {
				to.Set(reflect.MakeSlice(target, n, n))
				for i := range n {
					set(to.Index(i), from.Index(i))
				}
			}
		}
	case target.Kind() == reflect.Struct:
		return structCopier(target, source)
	case target == reflect.TypeFor[graph.Direction](): // any number in a message
		return func(to, from reflect.Value) { to.SetUint(min(uint64(from.Int()), math.MaxUint8)) }
	}
	return func(to, from reflect.Value) {
		if from.CanInt() && to.CanInt() {
			to.SetInt(from.Int())
		} else {
			to.Set(from.Convert(target))
		}
	}
}

func structCopier(target, source reflect.Type) func(to, from reflect.Value) {
	type field struct {
		to, from int
		set      func(to, from reflect.Value)
	}
	var fields []field
	for to := range target.NumField() {
		for from := range source.NumField() {
			t, s := target.Field(to), source.Field(from)
			if t.IsExported() && strings.TrimSuffix(t.Name, "Ns") == strings.TrimSuffix(s.Name, "Ns") {
				fields = append(fields, field{to, from, copier(t.Type, s.Type)})
			}
		}
	}
	return func(to, from reflect.Value) {
		for _, f := range fields {
			f.set(to.Field(f.to), from.Field(f.from))
		}
	}
}

// wire converts between a type of package plugins and a type of message.
type wire[T, M any] struct{ write, read func(to, from reflect.Value) }

func newWire[T, M any]() wire[T, M] {
	value, message := reflect.TypeFor[T](), reflect.TypeFor[*M]()
	return wire[T, M]{copier(message, value), copier(value, message)}
}

func (w wire[T, M]) message(value T) (message *M) {
	w.write(reflect.ValueOf(&message).Elem(), reflect.ValueOf(&value).Elem())
	return message
}

func (w wire[T, M]) value(message *M) (value T) {
	w.read(reflect.ValueOf(&value).Elem(), reflect.ValueOf(message))
	return value
}

var (
	descriptions  = newWire[plugins.Description, enginepb.Description]()
	constructions = newWire[plugins.Construction, enginepb.Construction]()
	traversals    = newWire[plugins.Traversal, enginepb.Traversal]()
	places        = newWire[plugins.Place, enginepb.Place]()
	recipes       = newWire[*graph.Kronecker, enginepb.Recipe]()
	deviceTuples  = newWire[*plugins.DeviceTuples, enginepb.DeviceTuples]()
	trees         = newWire[validate.Tree, enginepb.Verdict]()
	violations    = newWire[validate.Violation, enginepb.Violation]()
)

func descriptionFromWire(m *enginepb.Description) (plugins.Description, error) {
	d := descriptions.value(m)
	for i := range d.Options {
		o := &d.Options[i]
		o.Min, o.Max = bounded(o.Min, math.Inf(-1)), bounded(o.Max, math.Inf(1))
	}
	return d, impossible(d.Check())
}

// bounded returns a bound of an option. An infinite one that excludes nothing becomes nil: records, which are JSON,
// cannot hold it.
func bounded(bound *float64, infinite float64) *float64 {
	if bound != nil && *bound == infinite {
		return nil
	}
	return bound
}

func constructionFromWire(m *enginepb.Construction) (plugins.Construction, error) {
	c := constructions.value(m)
	return c, impossible(c.Check())
}

func searchesFromWire(r *enginepb.RepeatReply) (int64, error) {
	n := r.GetSearches()
	if n < 0 || n > plugins.MaxNumber {
		return 0, impossible(fmt.Errorf("%d searches", n))
	}
	return n, nil
}

func impossible(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return err
}

// failureKinds are the errors that keep their identity across processes: the detail of a gRPC status lists those that
// the engine's error wraps, and the host makes an error with the same text that wraps them, too.
func failureKinds() map[enginepb.Failure_Kind]error {
	return map[enginepb.Failure_Kind]error{
		enginepb.Failure_KIND_UNAVAILABLE:     plugins.ErrUnavailable,
		enginepb.Failure_KIND_OPTION:          plugins.ErrOption,
		enginepb.Failure_KIND_TUPLES:          plugins.ErrTuples,
		enginepb.Failure_KIND_MEMORY:          plugins.ErrMemory,
		enginepb.Failure_KIND_NOT_CONSTRUCTED: plugins.ErrNotConstructed,
		enginepb.Failure_KIND_ROOT:            plugins.ErrRoot,
		enginepb.Failure_KIND_PARENT:          plugins.ErrParent,
		enginepb.Failure_KIND_CLOSED:          plugins.ErrClosed,
		enginepb.Failure_KIND_CANCELED:        context.Canceled,
		enginepb.Failure_KIND_SEGMENT:         ErrSegment,
		enginepb.Failure_KIND_ANSWER:          ErrAnswer,
		enginepb.Failure_KIND_CRASHED:         ErrCrashed,
		enginepb.Failure_KIND_HUNG:            ErrHung,
		enginepb.Failure_KIND_PROGRAM:         ErrProgram,
		enginepb.Failure_KIND_CHECKSUM:        ErrChecksum,
		enginepb.Failure_KIND_HANDSHAKE:       ErrHandshake,
		enginepb.Failure_KIND_UNSUPPORTED:     errors.ErrUnsupported,
	}
}

// maxText is the maximum length of an error's text in bytes: gRPC sends it in a header.
const maxText = 4096

// printable returns the text of an error as UTF-8 without control characters, and shortened to maxText.
func printable(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + " ..."
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}

// ToStatus returns a gRPC status with the text of err, from which FromStatus makes an error that wraps the same errors
// of package plugins, and the same *validate.Violation.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	failure := &enginepb.Failure{}
	for kind, sentinel := range failureKinds() {
		if errors.Is(err, sentinel) {
			failure.Kinds = append(failure.Kinds, kind)
		}
	}
	if v := (*validate.Violation)(nil); errors.As(err, &v) {
		failure.Violation = violations.message(*v)
		failure.Violation.Text = printable(v.Text)
	}
	s, detailErr := status.New(codes.Unknown, printable(err.Error())).WithDetails(failure)
	if detailErr != nil {
		return status.Error(codes.Internal, detailErr.Error())
	}
	return s.Err()
}

type engineError struct {
	text    string
	wrapped []error
}

func (e *engineError) Error() string   { return e.text }
func (e *engineError) Unwrap() []error { return e.wrapped }

// FromStatus returns the error in a gRPC status of ToStatus. ok is false if the connection has failed instead.
func FromStatus(err error) (answer error, ok bool) {
	s, _ := status.FromError(err)
	for _, detail := range s.Details() {
		failure, is := detail.(*enginepb.Failure)
		if !is {
			continue
		}
		e := &engineError{text: printable(s.Message())}
		for kind, sentinel := range failureKinds() {
			if slices.Contains(failure.Kinds, kind) {
				e.wrapped = append(e.wrapped, sentinel)
			}
		}
		if v := failure.GetViolation(); v != nil {
			violation := violations.value(v)
			violation.Text = printable(v.GetText())
			e.wrapped = append(e.wrapped, &violation)
		}
		return e, true
	}
	return nil, false
}

// Faults of an engine's process. After ErrCrashed and ErrHung the process is gone, and every later call of that Client
// fails with the same error. The Host and its memory are not affected, and the program can be opened again.
var (
	ErrProgram   = errors.New("program cannot be started")                    // missing, not executable, for another CPU
	ErrChecksum  = errors.New("program is not the expected one")              // another SHA-256, or the file changed
	ErrHandshake = errors.New("program does not behave as an engine of teps") // printed nonsense or nothing, or ended
	ErrCrashed   = errors.New("engine has crashed")                           // its process ended or closed the connection
	ErrHung      = errors.New("engine does not return")                       // after the end of a call's context; killed
	ErrAnswer    = errors.New("engine gave an impossible answer")             // such as a negative time; stays usable
	ErrBusy      = errors.New("engine is in another call")                    // calls must come one at a time
	ErrSegment   = errors.New("unusable shared memory")                       // could not be made or mapped
)
