// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/record"
)

var errByHand = record.Usage("this process is started by teps run on the hosts of a cluster, not by hand")

// Handler answers one of the calls of a node.
type Handler struct{ stream grpc.StreamDesc }

// Handle returns the handler of a method. Its context ends with that of Node.Call, and with the connection. Calls may
// come at the same time. Arguments and reply travel as JSON.
func Handle[Args, Reply any](method string, do func(ctx context.Context, args Args) (Reply, error)) Handler {
	serve := func(_ any, stream grpc.ServerStream) error {
		var args Args
		if err := stream.RecvMsg(&args); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		go func() { // the head closes its side to cancel the call, which then still answers
			_ = stream.RecvMsg(new(any))
			cancel()
		}()
		reply, err := do(ctx, args)
		if err != nil {
			return rpc.ToStatus(err)
		}
		return stream.SendMsg(reply)
	}
	return Handler{grpc.StreamDesc{StreamName: method, Handler: serve, ServerStreams: true, ClientStreams: true}}
}

// Self is what a node knows about itself. Index and Nodes are set before the first call of a handler.
type Self struct {
	Index, Nodes int
	Places       *Places
}

// hello is how a node introduces itself.
type hello struct {
	Version string // of its program
	Host    string
	Rank    int // in the launcher's job, -1 if unknown
}

// Serve makes this process a node. It connects to the head and answers the head's calls with the handlers until the
// head closes the connection, ctx ends, or a signal arrives. It returns an error if the head is gone, or silent for
// 90 s. The places have then ended; handlers may still run, so the process should end.
func Serve(ctx context.Context, version string, handlers func(*Self) []Handler) error {
	invited := &invitation{}
	text, err := base64.StdEncoding.DecodeString(os.Getenv(invitationKey))
	if err != nil || json.Unmarshal(text, invited) != nil {
		return errByHand
	}
	_ = os.Unsetenv(invitationKey) // engines need no key
	places, err := listen(invited.Socket + os.Getenv(nodeKey))
	if err != nil {
		return err
	}
	defer places.Close()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	connection, err := invited.connect(ctx)
	if err != nil {
		return err
	}
	signaled := ctx
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	defer context.AfterFunc(signaled, func() { end(io.EOF) })()
	beats := atomic.Int64{}
	go func() {
		const looks = 10 // at intervals, because a machine may be suspended
		for silent := 0; silent < looks && ctx.Err() == nil; silent++ {
			if time.Sleep(invited.Silence / looks); beats.Swap(0) > 0 {
				silent = -1
			}
		}
		end(fmt.Errorf("the head was silent for %v", invited.Silence))
	}()

	self := &Self{Places: places}
	name, _ := os.Hostname()
	me := hello{version, cmp.Or(name, "unknown") + os.Getenv(nodeKey), launchedRank()}
	service := &grpc.ServiceDesc{ServiceName: serviceName, HandlerType: (*any)(nil)}
	for _, h := range append(handlers(self),
		Handle(helloMethod, func(context.Context, struct{}) (hello, error) {
			beats.Add(1)
			return me, nil
		}),
		Handle(positionMethod, func(_ context.Context, at [2]int) (struct{}, error) {
			self.Index, self.Nodes = at[0], at[1]
			return struct{}{}, nil
		}),
		Handle(endedMethod, func(_ context.Context, job string) (time.Duration, error) { return places.sinceEnd(job), nil }),
	) {
		service.Streams = append(service.Streams, h.stream)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(jsonCodec{}), grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage))
	server.RegisterService(service, nil)
	listener := make(single, 1)
	listener <- &link{Conn: connection, broken: end}
	go func() { _ = server.Serve(listener) }() // ends with the listener
	<-ctx.Done()
	places.Close()
	server.Stop()
	if err := context.Cause(ctx); err != io.EOF { // as from a TLS connection that was closed in order
		return fmt.Errorf("node %s ends: the connection to the head is broken: %w", me.Host, err)
	}
	return nil
}

// connect connects to the head at the first of its addresses that answers.
func (i *invitation) connect(ctx context.Context) (net.Conn, error) {
	config, err := i.tls()
	if err != nil {
		return nil, err
	}
	sockets := &net.Dialer{Timeout: connectTime / 2, Control: breakSilent, KeepAliveConfig: keepAlive()}
	dialer := &tls.Dialer{NetDialer: sockets, Config: config}
	var failures []string
	for _, address := range i.Addresses {
		attempt, cancel := context.WithTimeout(ctx, connectTime)
		connection, failure := dialer.DialContext(attempt, "tcp", address)
		cancel()
		if failure == nil {
			return connection, nil
		}
		failures = append(failures, failure.Error())
	}
	host, _ := os.Hostname()
	return nil, fmt.Errorf("node %s cannot connect to the head; name a network that all hosts share (--network): %s",
		host, strings.Join(failures, "; "))
}

// invitationKey is the environment variable with the invitation of a node.
const invitationKey = "TEPS_CLUSTER"

// invitation is what a node needs to connect to the head. It has the key that both use.
type invitation struct {
	Addresses   []string // of the head, with the port
	Certificate []byte   // DER
	Key         []byte   // the seed of the ed25519 key
	Socket      string   // name for the sockets at which places connect to their nodes
	Silence     time.Duration
}

// newInvitation makes the certificate of a run.
func newInvitation() (*invitation, error) {
	public, private, _ := ed25519.GenerateKey(nil) // never fails
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{serverName},
		// The clocks of hosts differ.
		NotBefore: time.Now().AddDate(-10, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		return nil, err
	}
	return &invitation{Certificate: der, Key: private.Seed(), Socket: "teps-" + rand.Text()}, nil
}

const serverName = "teps"

// tls returns the configuration of both sides, which know each other by the certificate of the run.
func (i *invitation) tls() (*tls.Config, error) {
	leaf, err := x509.ParseCertificate(i.Certificate)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{
		Certificates: []tls.Certificate{{
			Certificate: [][]byte{i.Certificate}, PrivateKey: ed25519.NewKeyFromSeed(i.Key), Leaf: leaf,
		}},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, ServerName: serverName,
		MinVersion: tls.VersionTLS13,
	}, nil
}

func (i *invitation) variable() string {
	text, _ := json.Marshal(i) // cannot fail
	return invitationKey + "=" + base64.StdEncoding.EncodeToString(text)
}

// addresses lists the addresses of this host in network, a CIDR, or all of them.
func addresses(network string) (inside []string, err error) {
	_, allowed, err := net.ParseCIDR(cmp.Or(network, "0.0.0.0/0"))
	if err != nil {
		return nil, record.Usage("network %q: want an address and a length, such as 10.0.0.0/8", network)
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		ip, ok := a.(*net.IPNet)
		if ok && !ip.IP.IsLinkLocalUnicast() && (network == "" || allowed.Contains(ip.IP)) {
			inside = append(inside, ip.IP.String())
		}
	}
	if len(inside) == 0 {
		return nil, fmt.Errorf("this host has no address in the network %s; it has %v", network, all)
	}
	return inside, nil
}

// jsonCodec is the encoding of calls.
type jsonCodec struct{}

func (jsonCodec) Name() string                       { return "json" }
func (jsonCodec) Marshal(v any) ([]byte, error)      { return json.Marshal(v) }
func (jsonCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

const (
	serviceName    = "teps.Node"
	maxMessage     = 256 << 20 // bytes: the levels of a search may be many
	connectTime    = 10 * time.Second
	helloMethod    = "hello" // methods of every node
	positionMethod = "position"
	endedMethod    = "ended"
)

// silentTime is how long the system of the other host may not answer before a connection breaks. TCP repeats what was
// lost after 0.2 s, 0.6 s, 1.4 s and so on, so six packets in a row must be lost.
const silentTime = 10 * time.Second

// keepAlive makes the system ask the other one when there is nothing to send.
func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: silentTime / 4, Interval: silentTime / 4, Count: 4}
}

// breakSilent limits how long a connection waits for the other system to confirm what was sent. Without it that takes
// 15 minutes. Systems other than Linux have no such limit.
func breakSilent(_, _ string, socket syscall.RawConn) error {
	const userTimeout = 18 // TCP_USER_TIMEOUT, milliseconds
	if runtime.GOOS != "linux" {
		return nil
	}
	var refused error
	err := socket.Control(func(fd uintptr) {
		refused = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout, int(silentTime.Milliseconds()))
	})
	return errors.Join(err, refused)
}

// link is a connection that reports once when it breaks.
type link struct {
	net.Conn
	broken func(error)
	done   atomic.Bool
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if err != nil && !l.done.Swap(true) {
		l.broken(err)
	}
	return n, err
}

// single is a listener with one connection.
type single chan net.Conn

func (s single) Accept() (net.Conn, error) {
	if c, ok := <-s; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (s single) Close() error { close(s); return nil }
func (single) Addr() net.Addr { return &net.TCPAddr{} }
