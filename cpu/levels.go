// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"time"

	"github.com/tepsbench/teps/plugins"
)

// levels records the levels of a search. Reading the clock costs as much as expanding some vertices, so after the first
// timedLevels, levels are timed when they have timedVertices together; each gets time in proportion to its frontier.
type levels struct {
	list    []plugins.Level
	phases  []plugins.Phase // outside levels: begin, output
	started time.Time
	timed   time.Duration // when the last level with a time ended, after started
	untimed int           // list[untimed:] have no time yet
	waiting int64         // vertices in their frontiers
}

const (
	// maxLevels is the maximum number of levels that a search reports. A path has as many levels as vertices, and the
	// report of a level takes more memory than a vertex.
	maxLevels     = 1 << 14
	timedLevels   = 1024
	timedVertices = 256
)

func (l *levels) start() {
	l.started = time.Now()
	l.list, l.untimed, l.waiting = l.list[:0], 0, 0
}

// endBegin ends the phase "begin", or prolongs it. It includes the levels so far.
func (l *levels) endBegin() {
	l.untimed, l.timed = len(l.list), time.Since(l.started)
	l.phases[0].Elapsed = l.timed
}

// full reports whether the search has more levels than a report may have. Further levels are not recorded.
func (l *levels) full() bool { return len(l.list) > maxLevels }

func (l *levels) add(level plugins.Level) {
	if l.full() {
		return
	}
	l.list = append(l.list, level)
	l.waiting += level.Frontier
	if len(l.list) <= timedLevels || l.waiting >= timedVertices {
		l.time()
	}
}

// time divides the time since its last call among the levels that have ended since then.
func (l *levels) time() {
	now := time.Since(l.started)
	for i := l.untimed; i < len(l.list); i++ {
		l.list[i].Elapsed = (now - l.timed) * time.Duration(l.list[i].Frontier) / time.Duration(l.waiting)
	}
	l.timed, l.untimed, l.waiting = now, len(l.list), 0
}

func (l *levels) endSteps() {
	if l.untimed < len(l.list) {
		l.time()
	}
}

// end ends the phase "output", and returns the levels.
func (l *levels) end() []plugins.Level {
	l.phases[1].Elapsed = time.Since(l.started) - l.timed
	if l.full() {
		l.list = l.list[:0]
	}
	return l.list
}
