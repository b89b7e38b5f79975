// SPDX-License-Identifier: Apache-2.0

// Package cluster runs processes on the hosts of a cluster.
//
// The head is the process that starts the others (teps run). A node is one process on each host (teps node), which
// connects to the head and answers its calls. A place is one process of an engine (teps place), which the node on its
// host opens. A launcher of the cluster starts nodes and places: srun, mpirun, or hydra.
//
// Nodes and head speak gRPC over TCP with mutual TLS; certificate and key are made for each run and travel in the
// environment of the nodes. The head is the client: it calls methods of the nodes (Node.Call, Handle). A node that has
// lost its head ends its places and itself.
//
// Three things show that the other side is lost. The system closes the connection of a process that has ended, at once.
// It also answers for its host: a connection breaks when nothing has come back for 10 s, however busy the processes
// are. A process that hangs or is stopped is known only by its silence, and needs processor time to answer. With 24
// other processes on two processors the slowest of 99 answers took 0.9 s; two runs on a busier machine did not get
// one within 10 s. So the limit is a minute.
package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
)

// Config says where and how a cluster is started. Program and Version are required.
type Config struct {
	Launcher  Launcher
	Hosts     []string // by name; empty: the hosts of the allocation
	Nodes     int      // number of hosts, if neither Hosts nor Slurm says it
	Arguments []string // of the launcher, from the user
	Network   string   // CIDR of the network by which nodes connect to the head; empty: any
	Program   string   // path of teps, the same on all hosts; started with the argument node or place
	Version   string   // of the program; nodes must have the same

	times times // for tests
}

type times struct {
	start   time.Duration // until all nodes have connected
	late    time.Duration // for the others when the launcher says that it cannot start one
	beat    time.Duration // between two heartbeats
	answer  time.Duration // for the answer to a heartbeat
	silence time.Duration // of the head, after which a node ends
}

const (
	cancelTime = 15 * time.Second // for the answer of a call that was canceled
	noticeTime = 2 * time.Second  // until the launcher notices that a process has ended
)

// Cluster is the head's side of all nodes. Once a node has failed, all calls fail with the same error.
type Cluster struct {
	Nodes []*Node // by rank in the launcher's job, and by host

	config     Config
	invitation *invitation
	nodes      *Job
	alive      context.Context
	fail       context.CancelCauseFunc
	lost       sync.Once // for the first connection that breaks
	beats      sync.WaitGroup

	mu   sync.Mutex
	jobs []*Job // of places
}

// Node is the head's side of one node.
type Node struct {
	Index int
	Host  string // name of the host

	cluster    *Cluster
	hello      hello
	connection *grpc.ClientConn
}

// Start starts a node on each host and returns when all are ready. If ctx ends first or a node does not start, Start
// leaves nothing running.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	if config.times == (times{}) {
		config.times = times{time.Minute, 5 * time.Second, 2500 * time.Millisecond, time.Minute, 90 * time.Second}
	}
	config.Nodes = cmp.Or(len(config.Hosts), config.Nodes, slurmNodes())
	if config.Nodes < 1 {
		return nil, record.Usage("%s: the number of hosts is unknown here; give --hosts or --nodes", config.Launcher.Name)
	}
	invited, err := newInvitation()
	if err != nil {
		return nil, err
	}
	invited.Silence = config.times.silence
	c := &Cluster{config: config, invitation: invited}
	c.alive, c.fail = context.WithCancelCause(context.Background())
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	inside, err := addresses(c.config.Network)
	if err != nil {
		return err
	}
	everywhere := "" // all interfaces
	if c.config.Network != "" {
		everywhere = inside[0]
	}
	sockets := net.ListenConfig{Control: breakSilent, KeepAliveConfig: keepAlive()}
	listener, err := sockets.Listen(ctx, "tcp", net.JoinHostPort(everywhere, "0"))
	if err != nil {
		return err
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, address := range inside {
		c.invitation.Addresses = append(c.invitation.Addresses, net.JoinHostPort(address, port))
	}
	if c.nodes, err = c.launch(1, "node", c.invitation.variable()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.times.start)
	defer cancel()
	arrived := make(chan *Node)
	go c.accept(ctx, listener, arrived)
	reason, late := c.nodes.output.Reason(), (<-chan time.Time)(nil)
	for len(c.Nodes) < c.config.Nodes {
		select {
		case n := <-arrived:
			if c.Nodes = append(c.Nodes, n); n.hello.Version != c.config.Version {
				return fmt.Errorf("node %s runs another teps, %s, than this one, %s; install the same program on all hosts",
					n.Host, n.hello.Version, c.config.Version)
			}
		case <-c.alive.Done():
			return context.Cause(c.alive)
		case <-c.nodes.process.Exited():
			return c.nodes.state()
		case <-reason: // some launchers then wait forever
			reason, late = nil, time.After(c.config.times.late)
		case <-late:
			return fmt.Errorf("%s; %w", c.connected(), c.nodes.state())
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; %w", c.connected(), ctx.Err(), c.nodes.state())
		}
	}
	slices.SortFunc(c.Nodes, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.hello.Rank, b.hello.Rank), strings.Compare(a.Host, b.Host))
	})
	for i, n := range c.Nodes {
		n.Index = i
	}
	err = c.Each(ctx, func(ctx context.Context, n *Node) error {
		return n.Call(ctx, positionMethod, [2]int{n.Index, len(c.Nodes)}, nil)
	})
	for _, n := range c.Nodes {
		c.beats.Go(n.beat)
	}
	return err
}

// connected says which nodes have connected.
func (c *Cluster) connected() string {
	text := fmt.Sprintf("%d of %d nodes have connected", len(c.Nodes), c.config.Nodes)
	for i, n := range c.Nodes {
		text += []string{": ", ", "}[min(i, 1)] + n.Host
	}
	return text
}

// accept takes connections of nodes until the listener is closed. It ignores connections that are not from a node.
func (c *Cluster) accept(ctx context.Context, listener net.Listener, arrived chan<- *Node) {
	config, err := c.invitation.tls()
	if err != nil {
		c.fail(err)
		return
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			secure := tls.Server(connection, config)
			limited, cancel := context.WithTimeout(ctx, connectTime)
			defer cancel()
			if secure.HandshakeContext(limited) != nil {
				connection.Close()
				return
			}
			n, err := c.greet(limited, secure)
			if err != nil {
				c.fail(err)
				return
			}
			select {
			case arrived <- n:
			case <-ctx.Done():
				n.connection.Close()
			}
		}()
	}
}

// greet makes a Node of a connection.
func (c *Cluster) greet(ctx context.Context, connection net.Conn) (*Node, error) {
	n := &Node{cluster: c, Host: connection.RemoteAddr().String()}
	connected := &link{Conn: connection, broken: n.broken}
	dialed := false
	var err error
	n.connection, err = grpc.NewClient("passthrough:///node", grpc.WithIdleTimeout(0),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the connection has TLS
		grpc.WithDefaultCallOptions(grpc.ForceCodec(jsonCodec{}), grpc.MaxCallRecvMsgSize(maxMessage),
			grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if dialed {
				return nil, net.ErrClosed
			}
			dialed = true
			return connected, nil
		}))
	if err == nil {
		err = n.Call(ctx, helloMethod, nil, &n.hello)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n.Host = cmp.Or(n.hello.Host, n.Host)
	return n, err
}

// broken ends the cluster after the connection to a node has broken. What the launcher prints then explains it.
func (n *Node) broken(err error) {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		err = op.Err // without addresses
	}
	n.cluster.lost.Do(func() {
		go func() {
			c, job := n.cluster, n.cluster.nodes
			job.process.WaitFor(noticeTime)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.fail(fmt.Errorf("node %s is gone (%w); %w", n.Host, err, job.state()))
		}()
	})
}

// beat asks the node at intervals whether it is alive.
func (n *Node) beat() {
	c := n.cluster
	for {
		select {
		case <-c.alive.Done():
			return
		case <-time.After(c.config.times.beat):
		}
		start := time.Now()
		ctx, cancel := context.WithTimeout(c.alive, c.config.times.answer)
		err := n.invoke(ctx, ctx, helloMethod, nil, nil)
		cancel()
		late := time.Since(start) > c.config.times.answer+c.config.times.beat // this process did not run
		if status.Code(err) == codes.DeadlineExceeded && !late {
			c.fail(fmt.Errorf("node %s has not answered for %v: its process hangs, or its network does not work", n.Host,
				c.config.times.answer))
		}
	}
}

// Call calls a method of the node. args and the result, stored in reply, travel as JSON; reply may be nil. When ctx
// ends, Call asks the handler to end and waits for its answer, so that nothing runs on after Call has returned.
//
// Errors of the handler keep their identity as in package rpc: plugins.ErrMemory and the others, *validate.Violation.
func (n *Node) Call(ctx context.Context, method string, args, reply any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := n.cluster
	err := n.invoke(ctx, c.alive, method, args, reply)
	if err == nil {
		return nil
	}
	if answer, ok := rpc.FromStatus(err); ok {
		if errors.Is(answer, context.Canceled) {
			select {
			case <-ctx.Done():
				answer = ctx.Err()
			case <-c.alive.Done(): // a node that is ended cancels its calls, and the validators of the others stop
				return context.Cause(c.alive)
			case <-time.After(2 * noticeTime):
			}
		}
		return fmt.Errorf("node %s: %w", n.Host, answer)
	}
	if code := status.Code(err); code == codes.Unavailable || code == codes.Canceled {
		select { // the connection is broken, or is about to be closed
		case <-c.alive.Done():
			return context.Cause(c.alive)
		case <-time.After(2 * noticeTime):
		}
	}
	return fmt.Errorf("node %s: %s: %s", n.Host, method, status.Convert(err).Message())
}

// invoke makes a call on a connection that is cut off when alive ends.
func (n *Node) invoke(ctx, alive context.Context, method string, args, reply any) error {
	alive, abort := context.WithCancel(alive)
	defer abort()
	stream, err := n.connection.NewStream(alive, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true},
		"/"+serviceName+"/"+method)
	if err != nil {
		return err
	}
	if args == nil { // which gRPC does not encode
		args = struct{}{}
	}
	if err := stream.SendMsg(args); err != nil && !errors.Is(err, io.EOF) { // io.EOF: RecvMsg has the error
		return err
	}
	if reply == nil {
		reply = new(any)
	}
	returned := make(chan struct{})
	defer close(returned)
	defer context.AfterFunc(ctx, func() {
		_ = stream.CloseSend()
		select {
		case <-returned:
		case <-time.After(cancelTime):
			n.cluster.fail(fmt.Errorf("node %s hangs in %s: no answer %v after the call was canceled", n.Host, method,
				cancelTime))
		}
	})()
	return stream.RecvMsg(reply)
}

// Close ends all places and nodes and everything that they started. It may be called at any time; running calls end.
func (c *Cluster) Close() {
	c.fail(fmt.Errorf("the cluster is closed: %w", plugins.ErrClosed))
	c.beats.Wait()
	for _, n := range c.Nodes {
		_ = n.connection.Close()
	}
	c.mu.Lock()
	jobs := c.jobs
	c.mu.Unlock()
	var stopping sync.WaitGroup
	for _, j := range append(jobs, c.nodes) {
		if j != nil {
			stopping.Go(func() { _ = j.Stop() })
		}
	}
	stopping.Wait()
}
