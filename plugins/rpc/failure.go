package rpc

// Errors keep their identity across the process border: the engine's side lists every sentinel that an error wraps in
// the detail of a gRPC status, and the host's side makes an error that wraps the same sentinels and says the same
// words. Texts are never compared. Of other errors (io.EOF, fs.ErrNotExist, ...) only the words arrive.

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// failureKind pairs a sentinel with its name on the wire and the gRPC code that tools show.
type failureKind struct {
	sentinel error
	kind     enginepb.Failure_Kind
	code     codes.Code
}

func failureKinds() []failureKind {
	return []failureKind{
		{plugins.ErrUnavailable, enginepb.Failure_KIND_UNAVAILABLE, codes.FailedPrecondition},
		{plugins.ErrOption, enginepb.Failure_KIND_OPTION, codes.InvalidArgument},
		{plugins.ErrTuples, enginepb.Failure_KIND_TUPLES, codes.InvalidArgument},
		{plugins.ErrMemory, enginepb.Failure_KIND_MEMORY, codes.ResourceExhausted},
		{plugins.ErrNotConstructed, enginepb.Failure_KIND_NOT_CONSTRUCTED, codes.FailedPrecondition},
		{plugins.ErrRoot, enginepb.Failure_KIND_ROOT, codes.OutOfRange},
		{plugins.ErrParent, enginepb.Failure_KIND_PARENT, codes.OutOfRange},
		{plugins.ErrClosed, enginepb.Failure_KIND_CLOSED, codes.FailedPrecondition},
		{context.Canceled, enginepb.Failure_KIND_CANCELED, codes.Canceled},
		{context.DeadlineExceeded, enginepb.Failure_KIND_DEADLINE_EXCEEDED, codes.DeadlineExceeded},
		{ErrBusy, enginepb.Failure_KIND_BUSY, codes.Aborted},
		{ErrSegment, enginepb.Failure_KIND_SEGMENT, codes.FailedPrecondition},
	}
}

// longestMessage is what an error's words are cut to, in bytes: gRPC sends them in a header.
const longestMessage = 4096

// toStatus is the engine's side. It returns nil for nil.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	code, failure := codes.Unknown, &enginepb.Failure{}
	for _, k := range failureKinds() {
		if errors.Is(err, k.sentinel) {
			if len(failure.Kinds) == 0 {
				code = k.code
			}
			failure.Kinds = append(failure.Kinds, k.kind)
		}
	}
	words := err.Error()
	if len(words) > longestMessage {
		words = words[:longestMessage] + " ..."
	}
	s, detailErr := status.New(code, strings.ToValidUTF8(words, "?")).WithDetails(failure)
	if detailErr != nil {
		return status.Error(codes.Internal, detailErr.Error())
	}
	return s.Err()
}

// engineError is an error of an engine, as the host sees it: the words, and all that they wrap.
type engineError struct {
	words     string
	sentinels []error
}

func (e *engineError) Error() string   { return e.words }
func (e *engineError) Unwrap() []error { return e.sentinels }

// fromStatus is the host's side. ok is false when err is no answer of an engine but a fault of the transport.
func fromStatus(err error) (answer error, ok bool) {
	s, _ := status.FromError(err)
	for _, detail := range s.Details() {
		failure, is := detail.(*enginepb.Failure)
		if !is {
			continue
		}
		e := &engineError{words: s.Message()}
		for _, kind := range failure.Kinds {
			for _, k := range failureKinds() {
				if k.kind == kind {
					e.sentinels = append(e.sentinels, k.sentinel)
				}
			}
		}
		return e, true
	}
	return nil, false
}
