// SPDX-License-Identifier: Apache-2.0

package rpc

// Conversions between the types of package plugins and their wire format. Impossible values (plugins/limits.go) are
// refused with ErrAnswer, by the host and before they are sent.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
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

func descriptionToWire(d plugins.Description) *enginepb.Description {
	return &enginepb.Description{
		Name: d.Name, Version: d.Version, Summary: d.Summary, Unavailable: d.Unavailable,
		MakesTuples: d.MakesTuples, TakesDeviceTuples: d.TakesDeviceTuples, ShortestPaths: d.ShortestPaths,
		Spreads: d.Spreads,
		Devices: each(d.Devices, func(d plugins.Device) *enginepb.Device {
			return &enginepb.Device{
				Kind: d.Kind, Name: d.Name, Units: int64(d.Units), MemoryBytes: d.MemoryBytes,
				Details: each(d.Details, factToWire),
			}
		}),
		Options: each(d.Options, func(o plugins.Option) *enginepb.Option {
			return &enginepb.Option{
				Name: o.Name, Kind: string(o.Kind), Default: o.Default, Min: o.Min, Max: o.Max,
				Choices: slices.Clone(o.Choices), Meaning: o.Meaning, Divides: o.Divides, Needs: o.Needs,
			}
		}),
		Memory: memoryToWire(d.Memory), PathMemory: memoryToWire(d.PathMemory),
		Limits: &enginepb.Limits{Vertices: d.Limits.Vertices, Tuples: d.Limits.Tuples},
	}
}

func descriptionFromWire(d *enginepb.Description) (plugins.Description, error) {
	limits := d.GetLimits()
	description := plugins.Description{
		Name: d.GetName(), Version: d.GetVersion(), Summary: d.GetSummary(),
		Unavailable: d.GetUnavailable(), MakesTuples: d.GetMakesTuples(),
		TakesDeviceTuples: d.GetTakesDeviceTuples(), ShortestPaths: d.GetShortestPaths(), Spreads: d.GetSpreads(),
		Devices: each(d.GetDevices(), func(d *enginepb.Device) plugins.Device {
			return plugins.Device{
				Kind: d.GetKind(), Name: d.GetName(), Units: int(d.GetUnits()), MemoryBytes: d.GetMemoryBytes(),
				Details: each(d.GetDetails(), factFromWire),
			}
		}),
		Options: each(d.GetOptions(), func(o *enginepb.Option) plugins.Option {
			return plugins.Option{
				Name: o.GetName(), Kind: plugins.Kind(o.GetKind()), Default: o.GetDefault(),
				Min: boundFromWire(o.Min, math.Inf(-1)), Max: boundFromWire(o.Max, math.Inf(1)),
				Choices: o.GetChoices(), Meaning: o.GetMeaning(), Divides: o.GetDivides(), Needs: o.GetNeeds(),
			}
		}),
		Memory: memoryFromWire(d.GetMemory()), PathMemory: memoryFromWire(d.GetPathMemory()),
		Limits: plugins.Limits{Vertices: limits.GetVertices(), Tuples: limits.GetTuples()},
	}
	return description, impossible(description.Check())
}

func memoryToWire(m plugins.Memory) *enginepb.Memory {
	return &enginepb.Memory{Fixed: m.Fixed, PerVertex: m.PerVertex, PerTuple: m.PerTuple, PerEnd: m.PerEnd}
}

func memoryFromWire(m *enginepb.Memory) plugins.Memory {
	return plugins.Memory{Fixed: m.GetFixed(), PerVertex: m.GetPerVertex(), PerTuple: m.GetPerTuple(),
		PerEnd: m.GetPerEnd()}
}

func recipeToWire(k *graph.Kronecker) *enginepb.Recipe {
	if k == nil {
		return nil
	}
	return &enginepb.Recipe{Scale: int64(k.Scale), EdgeFactor: int64(k.EdgeFactor), Seed1: k.Seed1, Seed2: k.Seed2}
}

func recipeFromWire(r *enginepb.Recipe) *graph.Kronecker {
	if r == nil {
		return nil
	}
	return &graph.Kronecker{
		Scale: int(r.GetScale()), EdgeFactor: int(r.GetEdgeFactor()), Seed1: r.GetSeed1(), Seed2: r.GetSeed2(),
	}
}

func deviceTuplesToWire(t *plugins.DeviceTuples) *enginepb.DeviceTuples {
	if t == nil {
		return nil
	}
	return &enginepb.DeviceTuples{Handle: t.Handle, Count: t.Count}
}

func deviceTuplesFromWire(t *enginepb.DeviceTuples) *plugins.DeviceTuples {
	if t == nil {
		return nil
	}
	return &plugins.DeviceTuples{Handle: t.GetHandle(), Count: t.GetCount()}
}

func placeFromWire(p *enginepb.Place) plugins.Place {
	return plugins.Place{Rank: int(p.GetRank()), Size: int(p.GetSize())}
}

func constructionToWire(c plugins.Construction) *enginepb.Construction {
	return &enginepb.Construction{
		ElapsedNs: int64(c.Elapsed), Bytes: c.Bytes, Entries: countToWire(c.Entries), Phases: each(c.Phases, phaseToWire),
		Claims: &enginepb.Claims{
			OriginalLabelsInClock: c.Claims.OriginalLabelsInClock, ClearingInClock: c.Claims.ClearingInClock,
			ParentBits: int64(c.Claims.ParentBits), VertexBits: int64(c.Claims.VertexBits), Tuning: c.Claims.Tuning,
		},
		Details: each(c.Details, factToWire),
	}
}

func constructionFromWire(c *enginepb.Construction) (plugins.Construction, error) {
	claims := c.GetClaims()
	construction := plugins.Construction{
		Elapsed: time.Duration(c.GetElapsedNs()), Bytes: c.GetBytes(), Entries: countFromWire(c.Entries),
		Phases: each(c.GetPhases(), phaseFromWire), Details: each(c.GetDetails(), factFromWire),
		Claims: plugins.Claims{
			OriginalLabelsInClock: claims.GetOriginalLabelsInClock(), ClearingInClock: claims.GetClearingInClock(),
			ParentBits: int(claims.GetParentBits()), VertexBits: int(claims.GetVertexBits()), Tuning: claims.GetTuning(),
		},
	}
	return construction, impossible(construction.Check())
}

func traversalToWire(t plugins.Traversal) *enginepb.Traversal {
	return &enginepb.Traversal{
		ElapsedNs: int64(t.Elapsed), Phases: each(t.Phases, phaseToWire),
		Ranks: each(t.Ranks, func(r plugins.Rank) *enginepb.Rank {
			return &enginepb.Rank{Phases: each(r.Phases, phaseToWire)}
		}),
		Levels: each(t.Levels, func(l plugins.Level) *enginepb.Level {
			return &enginepb.Level{
				Direction: enginepb.Level_Direction(l.Direction), Frontier: l.Frontier, Edges: countToWire(l.Edges),
				Bytes: countToWire(l.Bytes), Messages: countToWire(l.Messages), ElapsedNs: int64(l.Elapsed),
				Phases: each(l.Phases, phaseToWire),
				Counters: each(l.Counters, func(c plugins.Counter) *enginepb.Counter {
					return &enginepb.Counter{Name: c.Name, Value: c.Value}
				}),
			}
		}),
	}
}

func traversalFromWire(t *enginepb.Traversal, parent []graph.Vertex) (plugins.Traversal, error) {
	traversal := plugins.Traversal{
		Elapsed: time.Duration(t.GetElapsedNs()), Phases: each(t.GetPhases(), phaseFromWire),
		Ranks: each(t.GetRanks(), func(r *enginepb.Rank) plugins.Rank {
			return plugins.Rank{Phases: each(r.GetPhases(), phaseFromWire)}
		}),
		Levels: each(t.GetLevels(), func(l *enginepb.Level) plugins.Level {
			return plugins.Level{
				Direction: graph.Direction(min(uint32(l.GetDirection()), math.MaxUint8)), Frontier: l.GetFrontier(),
				Edges: countFromWire(l.Edges), Bytes: countFromWire(l.Bytes), Messages: countFromWire(l.Messages),
				Elapsed: time.Duration(l.GetElapsedNs()), Phases: each(l.GetPhases(), phaseFromWire),
				Counters: each(l.GetCounters(), func(c *enginepb.Counter) plugins.Counter {
					return plugins.Counter{Name: c.GetName(), Value: c.GetValue()}
				}),
			}
		}),
	}
	return traversal, impossible(traversal.Check(parent))
}

func searchesFromWire(r *enginepb.RepeatReply) (int64, error) {
	n := r.GetSearches()
	if n < 0 || n > plugins.MaxNumber {
		return 0, impossible(fmt.Errorf("%d searches", n))
	}
	return n, nil
}

func factToWire(f plugins.Fact) *enginepb.Fact   { return &enginepb.Fact{Name: f.Name, Value: f.Value} }
func factFromWire(f *enginepb.Fact) plugins.Fact { return plugins.Fact{Name: f.Name, Value: f.Value} }

func phaseToWire(p plugins.Phase) *enginepb.Phase {
	return &enginepb.Phase{
		Name: p.Name, ElapsedNs: int64(p.Elapsed), SlowestNs: int64(p.Slowest),
		Bytes: countToWire(p.Bytes), Messages: countToWire(p.Messages),
	}
}

func countToWire(c plugins.Count) *int64 {
	if n, known := c.Get(); known {
		return &n
	}
	return nil
}

func phaseFromWire(p *enginepb.Phase) plugins.Phase {
	return plugins.Phase{
		Name: p.GetName(), Elapsed: time.Duration(p.GetElapsedNs()), Slowest: time.Duration(p.GetSlowestNs()),
		Bytes: countFromWire(p.Bytes), Messages: countFromWire(p.Messages),
	}
}

func countFromWire(n *int64) plugins.Count {
	if n == nil {
		return plugins.Count{}
	}
	return plugins.Counted(*n)
}

// boundFromWire returns a bound of an option. An infinite bound that excludes nothing becomes nil: records, which are
// JSON, cannot hold it.
func boundFromWire(x *float64, boundless float64) *float64 {
	if x != nil && *x == boundless {
		return nil
	}
	return x
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
		failure.Violation = &enginepb.Violation{
			Rule: int64(v.Rule), Root: int64(v.Root), Text: printable(v.Text),
			Vertices: each(v.Vertices, func(v graph.Vertex) int64 { return int64(v) }),
		}
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
			e.wrapped = append(e.wrapped, &validate.Violation{
				Rule: validate.Rule(v.GetRule()), Root: graph.Vertex(v.GetRoot()), Text: printable(v.GetText()),
				Vertices: each(v.GetVertices(), func(v int64) graph.Vertex { return graph.Vertex(v) }),
			})
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
