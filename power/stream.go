package power

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
)

// streamPace is how often a file is looked at for new lines, and how often lines are fetched.
const streamPace = 50 * time.Millisecond

func streamInfo(s spec, q Quantity) Info {
	return Info{Name: s.source + ":" + string(s.scope) + "=" + s.value, Source: s.source, Scope: s.scope, Method: Measured, Quantity: q, Detail: s.value}
}

// openStream opens a file that another program appends lines to, or a named pipe that it writes them into.
func openStream(ctx context.Context, s spec) ([]Meter, []Absence) {
	m, err := openStreamWithin(ctx, s, firstLineLimit)
	if err != nil {
		return nil, []Absence{{Source: s.source, Reason: fmt.Sprintf("%s: %v", s.value, err)}}
	}
	return []Meter{m}, nil
}

func openStreamWithin(ctx context.Context, s spec, limit time.Duration) (Meter, error) {
	state, err := os.Stat(s.value)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no such file: start the logger first, or make the pipe (mkfifo)")
	}
	if err != nil {
		return nil, err
	}
	if state.Mode()&fs.ModeNamedPipe != 0 {
		return openPipe(ctx, s, limit)
	}
	if !state.Mode().IsRegular() {
		return nil, errors.New("it is neither a file nor a named pipe")
	}
	file, err := os.Open(s.value)
	if err != nil {
		return nil, err
	}
	f := &fileStream{file: file, feed: newFeed(false)}
	f.lines = bufio.NewReaderSize(file, longestLine)
	for begin := time.Now(); ; {
		f.look()
		q, err := f.feed.begin(ctx, streamPace)
		if err == nil {
			f.info = streamInfo(s, q)
			return f, nil
		}
		if time.Since(begin) > limit || ctx.Err() != nil {
			_ = file.Close()
			return nil, fmt.Errorf("no line like %s is in it, and none came within %v", lineForm, limit)
		}
	}
}

// fileStream is a file that grows.
type fileStream struct {
	info  Info
	file  *os.File
	lines *bufio.Reader
	feed  *feed
	part  strings.Builder // the beginning of a line whose end is not written yet
	seen  int64           // bytes
}

func (*fileStream) told()               {}
func (f *fileStream) Info() Info        { return f.info }
func (*fileStream) Pace() time.Duration { return streamPace }
func (f *fileStream) Close() error      { return f.file.Close() }

func (f *fileStream) Read(context.Context) ([]Reading, error) {
	f.look()
	return f.feed.read()
}

// look takes the lines that were appended since the last look.
func (f *fileStream) look() {
	if state, err := f.file.Stat(); err == nil && state.Size() < f.seen { // begun anew
		if _, err := f.file.Seek(0, io.SeekStart); err == nil {
			f.lines.Reset(f.file)
			f.part.Reset()
			f.seen = 0
		}
	}
	for {
		text, err := f.lines.ReadSlice('\n')
		f.seen += int64(len(text))
		if f.part.Len() < longestLine {
			f.part.Write(text)
		}
		switch {
		case err == nil:
			f.feed.take(f.part.String(), time.Now())
			f.part.Reset()
		case err == bufio.ErrBufferFull:
		case err == io.EOF:
			return
		default:
			f.feed.end(err)
			return
		}
	}
}

// openPipe opens a named pipe for reading and writing: so neither opening it nor a writer that comes and goes ends anything.
func openPipe(ctx context.Context, s spec, limit time.Duration) (Meter, error) {
	file, err := os.OpenFile(s.value, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	p := &pipeStream{source: file, feed: newFeed(true), over: make(chan struct{})}
	go func() {
		defer close(p.over)
		p.feed.end(p.feed.follow(file))
	}()
	q, err := p.feed.begin(ctx, limit)
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	p.info = streamInfo(s, q)
	return p, nil
}

// pipeStream is lines that come through a pipe.
type pipeStream struct {
	info   Info
	source io.Closer
	feed   *feed
	over   chan struct{} // closed when nothing is read any more
}

func (*pipeStream) told()               {}
func (p *pipeStream) Info() Info        { return p.info }
func (*pipeStream) Pace() time.Duration { return streamPace }

func (p *pipeStream) Read(context.Context) ([]Reading, error) { return p.feed.read() }

func (p *pipeStream) Close() error {
	err := p.source.Close()
	<-p.over
	return err
}
