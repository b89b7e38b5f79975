// Command version1 is an engine written against version 1 of the protocol, kept as it was: messages, handshake, memory
// layout and names are copies of that time, and nothing of teps is imported. A host that cannot run it has broken the
// promise of docs/engine-protocol.md. It is not to be changed, but for what the libraries of the module make necessary.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/tepsbench/teps/plugins/rpc/testdata/version1/enginepb"
)

func main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: "TEPS_ENGINE_COOKIE", MagicCookieValue: "b6a9a0c1-graph500-breadth-first-search"},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"engine": &service{}}},
		GRPCServer:       plugin.DefaultGRPCServer,
	})
}

type service struct{ plugin.NetRPCUnsupportedPlugin }

func (*service) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterEngineServer(s, &engine{parents: map[string][]byte{}})
	return nil
}

func (*service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is an engine")
}

// engine is one queue over lists of neighbours.
type engine struct {
	pb.UnimplementedEngineServer
	neighbours [][]uint32 // nil: no graph
	parents    map[string][]byte
	closed     bool

	mu        sync.Mutex
	cancelled uint64
}

func fail(kind pb.Failure_Kind, format string, args ...any) error {
	s, err := status.New(codes.Unknown, fmt.Sprintf(format, args...)).WithDetails(&pb.Failure{Kinds: []pb.Failure_Kind{kind}})
	if err != nil {
		return err
	}
	return s.Err()
}

// over says whether a call was cancelled, or is late.
func (e *engine) over(call *pb.Call, began time.Time) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if call.GetId() != 0 && e.cancelled >= call.GetId() {
		return fail(pb.Failure_KIND_CANCELED, "cancelled")
	}
	if limit := time.Duration(call.GetTimeoutNs()); limit > 0 && time.Since(began) >= limit {
		return fail(pb.Failure_KIND_DEADLINE_EXCEEDED, "too late")
	}
	return nil
}

// attach maps a segment and checks its header of 48 bytes.
func attach(s *pb.Segment, kind, size uint32) ([]byte, error) {
	mode, protection := os.O_RDONLY, syscall.PROT_READ
	if kind == 2 {
		mode, protection = os.O_RDWR, syscall.PROT_READ|syscall.PROT_WRITE
	}
	f, err := os.OpenFile(s.GetPath(), mode, 0)
	if err != nil {
		return nil, fail(pb.Failure_KIND_SEGMENT, "%v", err)
	}
	defer f.Close()
	memory, err := syscall.Mmap(int(f.Fd()), 0, 4096+int(s.GetTotal())*int(size), protection, syscall.MAP_SHARED)
	if err != nil {
		return nil, fail(pb.Failure_KIND_SEGMENT, "map %s: %v", s.GetPath(), err)
	}
	word := func(at int) uint32 { return binary.NativeEndian.Uint32(memory[at:]) }
	if string(memory[:8]) != "tepsseg\n" || word(8) != 1 || word(12) != kind || word(16) != size || word(20) != 0 ||
		binary.NativeEndian.Uint64(memory[24:]) != uint64(s.GetTotal()) || string(memory[32:48]) != string(s.GetId()) {
		return nil, errors.Join(fail(pb.Failure_KIND_SEGMENT, "%s has another header", s.GetPath()), syscall.Munmap(memory))
	}
	return memory, nil
}

func (e *engine) Describe(context.Context, *pb.DescribeRequest) (*pb.Description, error) {
	if e.closed {
		return nil, fail(pb.Failure_KIND_CLOSED, "closed")
	}
	return &pb.Description{
		Name: "version1", Version: "1", Summary: "one queue, as an engine was written for version 1 of the protocol",
		Memory: &pb.Memory{Fixed: 1 << 20, PerVertex: 40, PerTuple: 16},
	}, nil
}

func (e *engine) Construct(_ context.Context, r *pb.ConstructRequest) (*pb.Construction, error) {
	began := time.Now()
	e.neighbours = nil
	for name := range r.GetOptions() {
		return nil, fail(pb.Failure_KIND_OPTION, "there is no option %s", name)
	}
	if err := e.over(r.GetCall(), began); err != nil {
		return nil, err
	}
	neighbours := [][]uint32{}
	if s := r.GetTuples(); s != nil {
		memory, err := attach(s, 1, 12)
		if err != nil {
			return nil, err
		}
		defer syscall.Munmap(memory)
		for at := 4096 + 12*s.GetFirst(); at < 4096+12*(s.GetFirst()+s.GetCount()); at += 12 {
			u, v := binary.LittleEndian.Uint32(memory[at:]), binary.LittleEndian.Uint32(memory[at+4:])
			if binary.LittleEndian.Uint32(memory[at+8:]) != 0 || max(u, v) > 1<<28 {
				return nil, fail(pb.Failure_KIND_TUPLES, "labels may have 28 bits")
			}
			if n := int(max(u, v)) + 1; n > len(neighbours) {
				neighbours = append(neighbours, make([][]uint32, n-len(neighbours))...)
			}
			neighbours[u] = append(neighbours[u], v)
			neighbours[v] = append(neighbours[v], u)
		}
	}
	if err := e.over(r.GetCall(), began); err != nil {
		return nil, err
	}
	e.neighbours = neighbours
	return &pb.Construction{
		ElapsedNs: int64(time.Since(began)), Bytes: int64(24*len(neighbours)) + 8*r.GetTuples().GetCount() + 1,
		Claims: &pb.Claims{OriginalLabelsInClock: true, ClearingInClock: true, ParentBits: 64, VertexBits: 32, Tuning: "none"},
	}, nil
}

func (e *engine) Search(_ context.Context, r *pb.SearchRequest) (*pb.Traversal, error) {
	began := time.Now()
	if e.neighbours == nil {
		return nil, fail(pb.Failure_KIND_NOT_CONSTRUCTED, "no graph")
	}
	var parent []int64
	if s := r.GetParent(); s != nil {
		memory, err := e.parentMemory(s)
		if err != nil {
			return nil, err
		}
		if s.GetCount() > 0 {
			parent = unsafe.Slice((*int64)(unsafe.Pointer(&memory[4096+8*s.GetFirst()])), s.GetCount())
		}
	}
	if len(parent) < len(e.neighbours) {
		return nil, fail(pb.Failure_KIND_PARENT, "%d parents for %d vertices", len(parent), len(e.neighbours))
	}
	root := r.GetRoot()
	if root < 0 || root >= int64(len(parent)) {
		return nil, fail(pb.Failure_KIND_ROOT, "root %d of %d", root, len(parent))
	}
	for v := range parent {
		parent[v] = -1
	}
	parent[root] = root
	queue := make([]int64, 1, len(e.neighbours)+1)
	queue[0] = root
	for i := 0; i < len(queue); i++ {
		if i%4096 == 0 {
			if err := e.over(r.GetCall(), began); err != nil {
				return nil, err
			}
		}
		if queue[i] >= int64(len(e.neighbours)) {
			continue
		}
		for _, v := range e.neighbours[queue[i]] {
			if parent[v] < 0 {
				parent[v] = queue[i]
				queue = append(queue, int64(v))
			}
		}
	}
	return &pb.Traversal{ElapsedNs: int64(time.Since(began))}, nil
}

func (e *engine) parentMemory(s *pb.Segment) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if memory, known := e.parents[string(s.GetId())]; known {
		return memory, nil
	}
	memory, err := attach(s, 2, 8)
	if err == nil {
		e.parents[string(s.GetId())] = memory
	}
	return memory, err
}

func (e *engine) Close(context.Context, *pb.CloseRequest) (*pb.CloseReply, error) {
	e.closed = true
	return &pb.CloseReply{}, nil
}

func (e *engine) Cancel(_ context.Context, r *pb.CancelRequest) (*pb.CancelReply, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancelled = max(e.cancelled, r.GetCallId())
	return &pb.CancelReply{}, nil
}

func (e *engine) Detach(_ context.Context, r *pb.DetachRequest) (*pb.DetachReply, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range r.GetSegmentIds() {
		if memory, known := e.parents[string(id)]; known {
			delete(e.parents, string(id))
			_ = syscall.Munmap(memory)
		}
	}
	return &pb.DetachReply{}, nil
}
