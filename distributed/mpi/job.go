// SPDX-License-Identifier: Apache-2.0

package mpi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tepsbench/teps/distributed"
	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/plugins"
)

// job is one run of a launcher with its ranks. There is one for every graph, because the number of ranks is an option.
//
// Rank 0 talks to the engine through the standard input and output of the launcher, at about 50 MB/s, or, if both are
// on one host, through a socket, which is a hundred times as fast.
type job struct {
	launcher   string
	process    *child.Process
	output     *child.Tail // standard error
	stdin      io.Closer
	connection net.Conn // nil: standard input and output are used
	wire       *wire
}

const (
	dirPrefix = "teps-mpi-" // of the names of jobs' temporary directories
	dirMiB    = 16          // what mpirun writes there, and some more; where it cannot, Open MPI 4 hangs
)

// launch starts a job and waits until rank 0 answers.
func launch(ctx context.Context, ranks int, options plugins.Settings) (*job, error) {
	l, path, err := findLauncher(options.Text("launcher"))
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program of teps: %w", err)
	}
	dir, err := child.NewDir(dirPrefix)
	if err != nil {
		return nil, err
	}
	space := filepath.Join(dir.Path(), "space")
	err = os.WriteFile(space, make([]byte, dirMiB<<20), 0o600)
	_ = os.Remove(space)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s needs %d MiB for temporary files in %s: %w; free some space, or set "+
			"TMPDIR to another directory", l.name, dirMiB, filepath.Dir(dir.Path()), err), dir.Remove())
	}
	socket := filepath.Join(dir.Path(), "rank0")
	j := &job{launcher: l.name,
		output: child.NewTail("teps: ", "There are not enough slots", "ssh: ", "Host key verification failed")}
	cmd := exec.Command(path, l.commandLine(ranks, options, self, RankCommand, "--ranks", strconv.Itoa(ranks), "--threads",
		strconv.Itoa(options.Int("threads")), "--socket", socket)...)
	// Ranks choose their processors (Start), and yield them while they wait. The user's values come later and win. If
	// mpirun fails early, it leaves files in TMPDIR.
	cmd.Env = []string{"OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_mpi_yield_when_idle=1"}
	cmd.Env = append(append(cmd.Env, os.Environ()...), "TMPDIR="+dir.Path())
	cmd.Stderr = j.output
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	j.stdin = in
	listener, err := net.Listen("unix", socket)
	if err = errors.Join(inErr, outErr, err); err == nil {
		defer listener.Close() // an accepted connection stays open
		// On SIGTERM launchers end all ranks, here and on other hosts.
		j.process, err = child.Start(cmd, l.orphaned, func() {
			_ = dir.Remove()
			child.Sweep() // what ranks leave that end in MPI_Init
		})
	}
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	if err := j.connect(ctx, listener, out, in); err != nil {
		j.stop(0)
		return nil, err
	}
	_ = dir.Remove() // all ranks have opened what they need, and a process that is killed leaves nothing behind
	return j, nil
}

func (j *job) connect(ctx context.Context, l net.Listener, out io.Reader, in io.Writer) error {
	j.wire = newWire(out, in)
	greeted := make(chan hello, 1)
	go func() {
		for { // libraries may print other lines first
			line, err := j.wire.in.ReadBytes('\n')
			if err != nil {
				return
			}
			var h hello
			if json.Unmarshal(line, &h) == nil && h.Version != "" {
				greeted <- h
				return
			}
		}
	}()
	select {
	case h := <-greeted:
		if h.Version != Version {
			return fmt.Errorf("the ranks are of version %q, this program of version %q; install the same teps on all hosts",
				h.Version, Version)
		}
		if !h.Socket {
			return nil
		}
		connection, err := l.Accept() // rank 0 has connected
		if err == nil {
			j.connection, j.wire = connection, newWire(connection, connection)
		}
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-j.process.Exited():
		return j.failure()
	}
}

const ( // a call returns within 3 s of the end of its context
	cancelTime = 1500 * time.Millisecond // for ranks to stop a canceled request
	endTime    = 1200 * time.Millisecond // for the launcher to end its ranks
)

// ask sends a request and returns the reports of all ranks. When ctx ends, it asks the ranks to stop, and ends them if
// they do not. A failure of the ranks is an error.
func (j *job) ask(ctx context.Context, q request, follow ...[]uint32) (ranks []report, err error) {
	if err := j.wire.send(q, follow...); err != nil {
		return nil, j.failure()
	}
	received := make(chan error, 1)
	go func() { received <- j.wire.receive(&ranks) }()
	select {
	case err = <-received:
	case <-ctx.Done():
		_ = j.wire.send(request{Command: cancel}) // fails if the job has ended
		select {
		case err = <-received:
		case <-time.After(cancelTime):
			j.stop(0) // ends the reading, too
			<-received
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, j.failure()
	}
	errs := make([]error, len(ranks))
	for k, r := range ranks {
		errs[k] = asError(r.Error)
	}
	err = distributed.FirstError(errs)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return ranks, err
}

// causes are the errors that keep their identity between processes.
var causes = [...]error{distributed.ErrOtherRank, context.Canceled, plugins.ErrTuples, plugins.ErrMemory}

// asError makes an error of its text, which ends with that of its cause, or nil of an empty text.
func asError(text string) error {
	if text == "" {
		return nil
	}
	for _, cause := range causes {
		if rest, found := strings.CutSuffix(text, cause.Error()); found {
			return fmt.Errorf("%s%w", rest, cause)
		}
	}
	return errors.New(text)
}

// failure describes how the job ended; it has ended or is about to.
func (j *job) failure() error {
	if !j.process.WaitFor(3 * time.Second) {
		j.stop(0)
	}
	output, hint := j.output.String(), ""
	if strings.Contains(output, "not enough slots") {
		hint = "; give the hosts as many slots as ranks, such as hosts=h1:2,h2:2"
	}
	return fmt.Errorf("%s ended (%s)%s; %s", j.launcher, j.process.State(), hint, output)
}

// quit asks the ranks to end, and ends them if they do not.
func (j *job) quit() error {
	_ = j.wire.send(request{Command: quit}) // fails if the job has ended
	j.stop(3 * time.Second)
	return nil
}

// stop closes the connection, waits for the job to end, and then ends it.
func (j *job) stop(wait time.Duration) {
	_ = j.stdin.Close()
	j.process.Stop(wait, endTime)
	if j.connection != nil {
		_ = j.connection.Close()
	}
}
