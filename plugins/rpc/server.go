package rpc

// The engine's side of the calls. One call runs at a time; a second one is refused, because an engine need not be
// prepared for it. A panic of the engine is not caught: its state is unknown, so the process ends, and the host reports
// the panic with its message.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// server answers the calls of engine.proto with an Engine.
type server struct {
	enginepb.UnimplementedEngineServer
	engine   plugins.Engine
	segments attachments

	busy sync.Mutex // held during a call of the engine

	mu        sync.Mutex // guards what follows
	running   uint64     // id of the running call; 0: none or one that cannot be cancelled
	cancel    context.CancelFunc
	cancelled uint64 // highest id that Cancel has named: calls can arrive after their cancellation
}

func newServer(engine plugins.Engine) *server {
	return &server{engine: engine, segments: attachments{kept: map[segmentID]*attachment{}}}
}

// begin starts a call: it makes its context, which ends with the caller's deadline, with Cancel, and with the
// connection. end must be called when the engine has returned.
func (s *server) begin(ctx context.Context, call *enginepb.Call) (_ context.Context, end func(), err error) {
	if !s.busy.TryLock() {
		return nil, nil, fmt.Errorf("rpc: calls come one at a time: %w", ErrBusy)
	}
	var cancel context.CancelFunc
	if left := time.Duration(call.GetTimeoutNs()); left > 0 {
		ctx, cancel = context.WithTimeout(ctx, left)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.cancel = call.GetId(), cancel
	if s.running != 0 && s.running <= s.cancelled {
		cancel()
	}
	return ctx, func() {
		s.mu.Lock()
		s.running, s.cancel = 0, nil
		s.mu.Unlock()
		cancel()
		s.busy.Unlock()
	}, nil
}

func (s *server) Cancel(_ context.Context, request *enginepb.CancelRequest) (*enginepb.CancelReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled = max(s.cancelled, request.GetCallId())
	if s.running != 0 && s.running == request.GetCallId() {
		s.cancel()
	}
	return &enginepb.CancelReply{}, nil
}

func (s *server) Describe(ctx context.Context, request *enginepb.DescribeRequest) (*enginepb.Description, error) {
	ctx, end, err := s.begin(ctx, request.GetCall())
	if err != nil {
		return nil, toStatus(err)
	}
	defer end()
	description, err := s.engine.Describe(ctx)
	if err != nil {
		return nil, toStatus(err)
	}
	return descriptionToWire(description), nil
}

// Construct maps the tuples for the time of the call only, and only for reading: an engine may not use them later.
func (s *server) Construct(ctx context.Context, request *enginepb.ConstructRequest) (*enginepb.Construction, error) {
	ctx, end, err := s.begin(ctx, request.GetCall())
	if err != nil {
		return nil, toStatus(err)
	}
	defer end()
	tuples, release, err := attached[graph.Edge](&s.segments, request.GetTuples(), tupleSegment)
	if err != nil {
		return nil, toStatus(err)
	}
	construction, err := s.engine.Construct(ctx, plugins.Graph{
		Tuples: tuples, Recipe: recipeFromWire(request.GetRecipe()), Options: request.GetOptions(),
	})
	release()
	if err != nil {
		return nil, toStatus(err)
	}
	return constructionToWire(construction), nil
}

// Search keeps the parent array mapped for the searches that follow.
func (s *server) Search(ctx context.Context, request *enginepb.SearchRequest) (*enginepb.Traversal, error) {
	ctx, end, err := s.begin(ctx, request.GetCall())
	if err != nil {
		return nil, toStatus(err)
	}
	defer end()
	parent, release, err := attached[graph.Vertex](&s.segments, request.GetParent(), parentSegment)
	if err != nil {
		return nil, toStatus(err)
	}
	defer release()
	traversal, err := s.engine.Search(ctx, graph.Vertex(request.GetRoot()), parent)
	if err != nil {
		return nil, toStatus(err)
	}
	return traversalToWire(traversal), nil
}

// Repeat answers UNIMPLEMENTED for an engine that does not repeat.
func (s *server) Repeat(ctx context.Context, request *enginepb.RepeatRequest) (*enginepb.RepeatReply, error) {
	repeater, ok := s.engine.(plugins.Repeater)
	if !ok {
		return s.UnimplementedEngineServer.Repeat(ctx, request)
	}
	ctx, end, err := s.begin(ctx, request.GetCall())
	if err != nil {
		return nil, toStatus(err)
	}
	defer end()
	roots := each(request.GetRoots(), func(root int64) graph.Vertex { return graph.Vertex(root) })
	searches, err := repeater.Repeat(ctx, roots, time.Duration(request.GetDurationNs()))
	if err != nil {
		return nil, toStatus(err)
	}
	return &enginepb.RepeatReply{Searches: searches}, nil
}

func (s *server) Close(ctx context.Context, _ *enginepb.CloseRequest) (*enginepb.CloseReply, error) {
	_, end, err := s.begin(ctx, nil)
	if err != nil {
		return nil, toStatus(err)
	}
	defer end()
	return &enginepb.CloseReply{}, toStatus(s.engine.Close())
}

func (s *server) Detach(_ context.Context, request *enginepb.DetachRequest) (*enginepb.DetachReply, error) {
	for _, id := range request.GetSegmentIds() {
		if len(id) == len(segmentID{}) {
			s.segments.detach(segmentID(id))
		}
	}
	return &enginepb.DetachReply{}, nil
}
