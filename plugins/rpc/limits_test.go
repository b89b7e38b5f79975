// SPDX-License-Identifier: Apache-2.0

package rpc

// What an engine without the checks of Serve, as one in another language may be, cannot make the host accept. Package
// plugins tests the limits themselves.

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// liar is a server that gives its answers without checking them.
type liar struct {
	enginepb.UnimplementedEngineServer
}

func (liar) Describe(context.Context, *enginepb.DescribeRequest) (*enginepb.Description, error) {
	return descriptionToWire(plugins.Description{Name: strings.Repeat("a", 1e7)}), nil
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
		return second(lentFromWire(&enginepb.LendReply{Tuples: tuples}))
	}
	for _, bad := range []error{
		lent(1, 0), lent(-1, 1), lent(1, maxHandle+1),
		second(verdictFromWire(&enginepb.Verdict{Reached: -1})),
		second(verdictFromWire(&enginepb.Verdict{Depth: -1})),
		second(verdictFromWire(&enginepb.Verdict{Rule: 6})),
		second(verdictFromWire(&enginepb.Verdict{Rule: -1})),
		second(verdictFromWire(&enginepb.Verdict{Rule: 1, Vertices: make([]int64, 3)})),
		second(descriptionFromWire(&enginepb.Description{Name: "a b"})),
		second(constructionFromWire(&enginepb.Construction{ElapsedNs: -1})),
		second(searchesFromWire(&enginepb.RepeatReply{Searches: -1})),
		second(traversalFromWire(&enginepb.Traversal{ElapsedNs: -1}, nil)),
	} {
		wantError(t, bad, ErrAnswer)
	}
}

// FuzzAnswers gives the host answers of any bytes. It must refuse or convert them, and what it accepts fits into a
// record: JSON can hold it, and its size is bounded.
func FuzzAnswers(f *testing.F) {
	f.Add(byte(0), marshal(descriptionToWire(filled[plugins.Description]())))
	f.Add(byte(1), marshal(constructionToWire(filled[plugins.Construction]())))
	f.Add(byte(2), marshal(traversalToWire(filled[plugins.Traversal]())))
	f.Add(byte(2), marshal(traversalToWire(plugins.Traversal{Elapsed: -1})))
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
			accepted, err = traversalFromWire(wire, parent)
		}
		if err != nil {
			if !errors.Is(err, ErrAnswer) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %q", err)
			}
			return
		}
		text := must(json.Marshal(accepted))
		var again any
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}

// An engine that passes the conformance suite inside a process also passes it behind the connection.
func TestEngineConformsThroughAChildProcess(t *testing.T) {
	s := newStage(t)
	enginetest.Test(t, func(ctx context.Context) (plugins.Engine, error) {
		client, err := s.Open(ctx, s.program("serial"))
		if err != nil {
			return nil, err
		}
		return client, nil
	})
}

var (
	_ enginetest.Allocator = (*Client)(nil)
	_ enginetest.Footprint = (*Client)(nil)
)
