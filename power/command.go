package power

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// politeness is how long a program that was told to end (SIGTERM) may take for it.
const politeness = time.Second

// openCommand starts a program that prints readings.
func openCommand(ctx context.Context, s spec) ([]Meter, []Absence) {
	m, err := startCommand(ctx, s, firstLineLimit)
	if err != nil {
		return nil, []Absence{{Source: s.source, Reason: fmt.Sprintf("%s: %v", s.value, err)}}
	}
	return []Meter{m}, nil
}

// commandMeter is a program that prints lines, in a process group of its own: a signal reaches what it has started as well.
type commandMeter struct {
	pipeStream
	process *exec.Cmd
	errors  *lastLine
	ended   chan struct{} // closed when the program has been waited for
	once    sync.Once
}

func startCommand(ctx context.Context, s spec, limit time.Duration) (*commandMeter, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &commandMeter{process: exec.Command(s.arguments[0], s.arguments[1:]...), errors: &lastLine{}, ended: make(chan struct{})}
	c.pipeStream = pipeStream{source: read, feed: newFeed(true), over: make(chan struct{})}
	c.process.Stdout, c.process.Stderr = write, c.errors
	c.process.SysProcAttr = meterAttributes()
	c.process.WaitDelay = politeness // what it has started may hold its error output open
	c.process.Env = environment(os.Environ())
	started := make(chan error)
	go c.live(started)
	err = <-started
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		return nil, fmt.Errorf("it does not start (is the path right, and the file executable?): %w", err)
	}
	go func() {
		defer close(c.over)
		err := c.feed.follow(read)
		if err == io.EOF { // the program has closed its output: it has ended or will soon
			select {
			case <-c.ended:
				err = c.state()
			case <-time.After(politeness):
				err = errors.New("it has closed its output")
			}
		}
		c.feed.end(err)
	}()
	q, err := c.feed.begin(ctx, limit)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.info = streamInfo(s, q)
	return c, nil
}

// live starts the program and waits for its end, on one thread: the kernel tells the program when that thread ends (see
// meterAttributes), and the thread ends no sooner than this process.
func (c *commandMeter) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.process.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.process.Wait()
	_ = killGroup(c.process.Process.Pid) // whom it has left behind
	close(c.ended)
}

// state says how the program ended.
func (c *commandMeter) state() error {
	text := c.process.ProcessState.String()
	if last := c.errors.String(); last != "" {
		text += ": " + last
	}
	return fmt.Errorf("the program has ended (%s)", text)
}

// Close tells the program to end, and kills it with all that it has started when it does not.
func (c *commandMeter) Close() error {
	c.once.Do(func() {
		pid := c.process.Process.Pid
		select {
		case <-c.ended:
		default:
			_ = endGroup(pid)
			select {
			case <-c.ended:
			case <-time.After(politeness):
				_ = killGroup(pid)
				<-c.ended
			}
		}
	})
	return c.pipeStream.Close()
}

// environment is what a program inherits: not the login of a board controller.
func environment(all []string) []string {
	var kept []string
	for _, v := range all {
		if !strings.HasPrefix(v, redfishUser+"=") && !strings.HasPrefix(v, redfishPassword+"=") {
			kept = append(kept, v)
		}
	}
	return kept
}

// lastLine keeps the last line that was written to it.
type lastLine struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	if end := bytes.TrimRight(l.text, "\n"); bytes.ContainsRune(end, '\n') {
		l.text = l.text[bytes.LastIndexByte(end, '\n')+1:]
	}
	if len(l.text) > longestLine {
		l.text = l.text[len(l.text)-longestLine:]
	}
	return len(p), nil
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.text))
}
