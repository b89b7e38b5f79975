// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/plugins"
)

// slotKey is the environment variable with the socket and the job of a place: SOCKET/JOB.
const slotKey = plugins.PlaceVariable

// maxImage is the maximum number of bytes of an image.
const maxImage = 64 << 10

// image is the program that a place becomes.
type image struct {
	Path            string
	Args, Variables []string
}

// ServePlace makes this process a place: it connects to the node on its host and becomes the program that the node
// names, with the environment of the launcher and the node's variables. It returns only after an error.
func ServePlace() error {
	socket, job, ok := strings.Cut(os.Getenv(slotKey), "/")
	if !ok {
		return errByHand
	}
	// Signals of the node must reach the engine with what it starts, and no other place: Slurm makes one group of all
	// processes on a host. This fails for the leader of a session, which has a group already.
	_ = syscall.Setpgid(0, 0)
	node, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: "@" + socket + os.Getenv(nodeKey)})
	if err != nil {
		host, _ := os.Hostname()
		return fmt.Errorf("this process found no node of teps on host %s: %w", host, err)
	}
	defer node.Close()
	if _, err := child.Peer(node); err != nil {
		return err
	}
	text, _ := json.Marshal(arrival{job, launchedRank()}) // cannot fail
	if _, err := node.Write(text); err != nil {
		return err
	}
	// The message has the image, and two pipes for standard output and standard error.
	message, control := make([]byte, maxImage), make([]byte, unix.CmsgSpace(2*4))
	n, m, _, _, err := node.ReadMsgUnix(message, control)
	if err != nil || n == 0 {
		return errors.Join(errors.New("the node has ended"), err)
	}
	var next image
	var pipes []int
	controls, err := unix.ParseSocketControlMessage(control[:m])
	if err = errors.Join(err, json.Unmarshal(message[:n], &next)); err == nil && len(controls) == 1 {
		pipes, err = unix.ParseUnixRights(&controls[0])
	}
	if err != nil || len(pipes) != 2 {
		return fmt.Errorf("a message of the node with %d pipes: %w", len(pipes), err)
	}
	for i, fd := range []int{1, 2} {
		err = errors.Join(err, unix.Dup2(pipes[i], fd), unix.Close(pipes[i]))
	}
	// The monitor of Go's scheduler wakes up with the process, and took a rank off its processor 33 times in a search of
	// 3 ms. It does not sleep if it is to print at intervals, here of 24 days (or at the start, if the host is up longer).
	_ = os.Setenv("GODEBUG", os.Getenv("GODEBUG")+",schedtrace="+strconv.Itoa(math.MaxInt32))
	if err == nil {
		err = syscall.Exec(next.Path, next.Args, append(os.Environ(), next.Variables...))
	}
	return fmt.Errorf("%s: %w", next.Path, err)
}

// arrival is the first message of a place.
type arrival struct {
	Job  string
	Rank int // in the launcher's job
}

// Places are the places that have connected to this node.
type Places struct {
	listener *net.UnixListener

	mu      sync.Mutex
	waiting map[string][]*Place // by job
	changed chan struct{}       // is closed and replaced when a place arrives
	running []running
}

// running is a process that was a place of a job.
type running struct {
	*child.Process
	job string
}

// listen takes places at an abstract socket, which exists once in each network namespace.
func listen(socket string) (*Places, error) {
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Net: "unixpacket", Name: "@" + socket})
	if err != nil {
		return nil, fmt.Errorf("listen for engines (two nodes on one host?): %w", err)
	}
	p := &Places{listener: listener, waiting: map[string][]*Place{}, changed: make(chan struct{})}
	go func() {
		for {
			connection, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			go p.arrive(connection)
		}
	}()
	return p, nil
}

func (p *Places) arrive(connection *net.UnixConn) {
	pid, err := child.Peer(connection)
	text, a := make([]byte, maxImage), arrival{}
	if err == nil {
		_ = connection.SetReadDeadline(time.Now().Add(connectTime))
		var n int
		n, err = connection.Read(text)
		err = errors.Join(err, json.Unmarshal(text[:n], &a))
	}
	if err != nil {
		connection.Close()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[a.Job] = append(p.waiting[a.Job], &Place{p, connection, pid, a.Rank, a.Job})
	close(p.changed)
	p.changed = make(chan struct{})
}

// Wait returns the n places of a job on this node, in the order of their ranks, when they have connected.
func (p *Places) Wait(ctx context.Context, job string, n int) ([]*Place, error) {
	for {
		p.mu.Lock()
		arrived, changed := p.waiting[job], p.changed
		if len(arrived) >= n {
			delete(p.waiting, job)
		}
		p.mu.Unlock()
		if len(arrived) > n {
			return nil, fmt.Errorf("the launcher started %d processes of an engine on this host, not %d", len(arrived), n)
		}
		if len(arrived) == n {
			slices.SortFunc(arrived, func(a, b *Place) int { return cmp.Compare(a.rank, b.rank) })
			return arrived, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("%d of %d processes of the engine have started: %w", len(arrived), n, ctx.Err())
		}
	}
}

// sinceEnd returns how long ago the first place of a job ended, or -1.
func (p *Places) sinceEnd(job string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := time.Duration(-1)
	for _, r := range p.running {
		if at := r.EndedAt(); r.job == job && !at.IsZero() {
			since = max(since, time.Since(at))
		}
	}
	return since
}

// Close kills all places.
func (p *Places) Close() {
	p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, waiting := range p.waiting {
		for _, place := range waiting {
			place.connection.Close() // it ends
		}
	}
	for _, process := range p.running {
		process.Kill()
	}
}

// Place is a process that waits to become a process of an engine.
type Place struct {
	places     *Places
	connection *net.UnixConn
	pid, rank  int
	job        string
}

const drainTime = 300 * time.Millisecond // for the rest of a place's output, if another process holds the pipes open

// Start makes the place run a program. It implements rpc.Program.Start.
func (p *Place) Start(cmd *exec.Cmd, atEnd func()) (*child.Process, error) {
	defer p.connection.Close()
	var readers [2]*os.File
	var pipes [2]int
	for i := range readers {
		reader, writer, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer writer.Close()
		readers[i], pipes[i] = reader, int(writer.Fd())
		if err := unix.SetNonblock(pipes[i], false); err != nil { // programs expect that
			return nil, err
		}
	}
	var copies sync.WaitGroup
	process, err := child.Adopt(p.pid, func() {
		for _, r := range readers {
			_ = r.SetReadDeadline(time.Now().Add(drainTime))
		}
		copies.Wait()
		atEnd()
	})
	if err != nil {
		return nil, err
	}
	for i, output := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		copies.Go(func() {
			_, _ = io.Copy(output, readers[i])
			readers[i].Close()
		})
	}
	p.places.mu.Lock()
	p.places.running = append(p.places.running, running{process, p.job})
	p.places.mu.Unlock()
	text, err := json.Marshal(image{cmd.Path, cmd.Args, append(cmd.Env, process.Mark())})
	if err == nil {
		_, _, err = p.connection.WriteMsgUnix(text, unix.UnixRights(pipes[:]...), nil)
	}
	if err != nil {
		return nil, fmt.Errorf("the process that should become the engine has ended: %w", err)
	}
	return process, nil
}

// Here starts the processes of engines on this host only. This process is head and node.
type Here struct {
	cluster *Cluster
	places  *Places
}

// NewHere returns a Here. It ignores Hosts and Nodes of config.
func NewHere(config Config) (*Here, error) {
	invited, err := newInvitation()
	if err != nil {
		return nil, err
	}
	config.Hosts, config.Nodes, config.times = nil, 1, times{start: time.Minute}
	h := &Here{cluster: &Cluster{config: config, invitation: invited}}
	h.cluster.alive, h.cluster.fail = context.WithCancelCause(context.Background())
	h.places, err = listen(invited.Socket)
	return h, err
}

// Start starts n places of one engine. stop ends them.
func (h *Here) Start(ctx context.Context, n int) (places []*Place, stop func(), err error) {
	job, err := h.cluster.StartPlaces(n)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.cluster.config.times.start)
	defer cancel()
	waiting, cancel := job.whileItRuns(ctx, 0)
	defer cancel()
	if places, err = h.places.Wait(waiting, job.Name, n); err != nil {
		return nil, nil, fmt.Errorf("%w; %w", err, job.Stop())
	}
	return places, func() { _ = job.Stop() }, nil
}

// Close ends all places.
func (h *Here) Close() {
	h.places.Close()
	h.cluster.Close()
}
