package rpc

// Errors keep their identity across processes: the engine's side lists the errors of package plugins that an error
// wraps in the detail of a gRPC status, and the host's side makes an error with the same text that wraps them too. Of
// other errors only the text arrives.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

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

// toStatus returns an error of the engine as a gRPC status, or nil for nil.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	failure := &enginepb.Failure{}
	for kind, sentinel := range failureKinds() {
		if errors.Is(err, sentinel) {
			failure.Kinds = append(failure.Kinds, kind)
		}
	}
	s, detailErr := status.New(codes.Unknown, printable(err.Error())).WithDetails(failure)
	if detailErr != nil {
		return status.Error(codes.Internal, detailErr.Error())
	}
	return s.Err()
}

// engineError is an error with a text from the engine.
type engineError struct {
	text    string
	wrapped []error
}

func (e *engineError) Error() string   { return e.text }
func (e *engineError) Unwrap() []error { return e.wrapped }

// fromStatus returns the error of the engine in a gRPC status. ok is false if the connection has failed instead.
func fromStatus(err error) (answer error, ok bool) {
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
		return e, true
	}
	return nil, false
}
