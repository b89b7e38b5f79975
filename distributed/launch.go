package distributed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A job is a run of mpirun with its ranks, from start to end. The engine starts one for every graph: the number of ranks
// is an option, and a rank that dies is the error of a call.
type job struct {
	wire  *wire
	stdin io.Closer
	words *lastWords
	pid   int
	ended chan struct{} // closed when mpirun has been waited for
	state string        // how it ended, set before
}

const (
	launcherMissing = "mpirun was not found in PATH: install Open MPI (on Debian: apt-get install openmpi-bin)"
	programMissing  = "teps-rank was found neither beside this program nor in PATH: build it with go build -tags mpi ./cmd/teps-rank " +
		"(on Debian: apt-get install libopenmpi-dev), and put it there"
)

// launcher finds mpirun. Where several MPIs are installed, Debian keeps Open MPI's under a name of its own.
func launcher() (string, bool) {
	for _, name := range []string{"mpirun.openmpi", "mpirun"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// rankProgram finds teps-rank: beside this program, or in PATH.
func rankProgram() (string, bool) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "teps-rank")
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside, true
		}
	}
	if path, err := exec.LookPath("teps-rank"); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path, true
		}
	}
	return "", false
}

// placement says where ranks run.
type placement struct {
	hosts     string // h1:2,h2:2
	hostFile  string
	arguments string // more arguments of mpirun
}

func (p placement) commandLine(ranks int, program string) []string {
	args := []string{"-np", strconv.Itoa(ranks)}
	if os.Geteuid() == 0 {
		args = append(args, "--allow-run-as-root") // whoever is root here has decided so
	}
	switch {
	case p.hosts != "":
		args = append(args, "--host", p.hosts)
	case p.hostFile != "":
		args = append(args, "--hostfile", p.hostFile)
	default:
		args = append(args, "--oversubscribe") // one host, and any number of ranks
	}
	args = append(args, strings.Fields(p.arguments)...)
	return append(args, program, "--ranks", strconv.Itoa(ranks))
}

// launch starts a job and waits until rank 0 answers.
func launch(ctx context.Context, ranks int, p placement) (*job, error) {
	mpirun, found := launcher()
	if !found {
		return nil, errors.New(launcherMissing)
	}
	program, found := rankProgram()
	if !found {
		return nil, errors.New(programMissing)
	}
	shortcut, err := newShortcut()
	if err != nil {
		return nil, err
	}
	defer shortcut.close()
	// mpirun's own folder on this host goes into the job's: where it fails early it leaves it behind.
	cmd := exec.Command(mpirun, append(p.commandLine(ranks, program), "--socket", shortcut.path)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+shortcut.folder())
	cmd.SysProcAttr = jobAttributes()
	j := &job{words: &lastWords{}, ended: make(chan struct{})}
	in, err := cmd.StdinPipe()
	if err != nil {
		shortcut.remove()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		shortcut.remove()
		return nil, err
	}
	cmd.Stderr = j.words
	cmd.WaitDelay = time.Second
	j.stdin = in
	started := make(chan error)
	go func() {
		// The signal of the parent's death is tied to the thread that starts the process: it stays until the job has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // state says how it ended
			j.state = cmd.ProcessState.String()
		}
		shortcut.remove()
		close(j.ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	j.pid = cmd.Process.Pid
	hello, err := j.greet(ctx, shortcut, out, in)
	if err == nil && hello.Version != protocolVersion {
		err = fmt.Errorf("%s speaks %q, and this program %q: build both from one version", program, hello.Version, protocolVersion)
	}
	if err != nil {
		j.stop(0)
		return nil, err
	}
	return j, nil
}

// greet finds out how rank 0 wants to talk, and hears its first answer.
func (j *job) greet(ctx context.Context, s *shortcut, out io.Reader, in io.Writer) (answer, error) {
	how := make(chan *wire, 2) // nil: no way
	go func() {
		if connection, err := s.listener.Accept(); err == nil {
			w := newWire(connection, connection)
			w.both = connection
			how <- w
		}
	}()
	go func() {
		stdout := bufio.NewReader(out)
		for { // libraries may print lines before
			line, err := stdout.ReadString('\n')
			if err != nil {
				how <- nil
				return
			}
			if line == overStdio {
				how <- newWire(stdout, in)
				return
			}
		}
	}()
	select {
	case j.wire = <-how:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-j.ended:
	}
	if j.wire == nil {
		return answer{}, j.failure()
	}
	return j.hear(ctx)
}

// hear waits for an answer. When ctx ends it asks the ranks to stop, and gives them a second and a half.
func (j *job) hear(ctx context.Context) (answer, error) {
	var a answer
	heard := make(chan error, 1)
	go func() { heard <- j.wire.from.Decode(&a) }()
	var err error
	select {
	case err = <-heard:
	case <-ctx.Done():
		if err := j.wire.say(request{Kind: requestCancel}); err != nil {
			return answer{}, ctx.Err()
		}
		select {
		case err = <-heard:
		case <-time.After(1500 * time.Millisecond):
			j.stop(0) // ends the decoding too
			<-heard
			return answer{}, ctx.Err()
		}
	}
	if err != nil {
		return answer{}, j.failure()
	}
	return a, nil
}

// failure says how the job ended, which it has or is about to.
func (j *job) failure() error {
	select {
	case <-j.ended:
	case <-time.After(3 * time.Second):
		j.stop(0)
	}
	return fmt.Errorf("mpirun ended (%s): %s", j.state, j.words)
}

// stop ends the job: it is left alone for a while, then asked, then killed. mpirun passes the end on to all ranks.
func (j *job) stop(leave time.Duration) {
	j.stdin.Close() // and with it the conversation, if it goes over it
	if j.wire != nil && j.wire.both != nil {
		defer j.wire.both.Close()
	}
	for _, step := range []struct {
		wait   time.Duration
		signal syscall.Signal
	}{{leave, syscall.SIGTERM}, {3 * time.Second, syscall.SIGKILL}, {3 * time.Second, 0}} {
		select {
		case <-j.ended:
			return
		case <-time.After(step.wait):
			if step.signal != 0 {
				_ = syscall.Kill(j.pid, step.signal)
			}
		}
	}
}
