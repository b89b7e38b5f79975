package distributed_test

import (
	"errors"
	"sync"

	"github.com/tepsbench/teps/distributed/comm"
)

// onAll calls f for all ranks of a group at once.
func onAll(ranks []comm.Group, f func(comm.Group) error) error {
	errs := make([]error, len(ranks))
	var all sync.WaitGroup
	for k, c := range ranks {
		all.Go(func() { errs[k] = f(c) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// partnered is a group that records with which ranks its member exchanges messages between two reductions, which end a
// level.
type partnered struct {
	comm.Group
	world    []int // world ranks of the members
	partners *partners
}

type partners struct {
	mu    sync.Mutex
	level map[int]map[int]bool // by rank: those it has sent to in this level
	max   int                  // number of them
}

func recordPartners(c comm.Group, p *partners) *partnered {
	world := make([]int, c.Size())
	for k := range world {
		world[k] = k
	}
	return &partnered{c, world, p}
}

func (p *partnered) Split(color, key int) comm.Group {
	part := p.Group.Split(color, key)
	members := make([]int, part.Size())
	for k, message := range comm.Allgather(part, []uint32{uint32(p.world[p.Rank()])}) {
		members[k] = int(message[0])
	}
	return &partnered{part, members, p.partners}
}

func (p *partnered) Alltoallv(send, receive [][]uint32, values []int64) {
	p.add(send)
	p.Group.Alltoallv(send, receive, values)
	if send == nil || values != nil {
		p.endLevel()
	}
}

// add records messages, which may be empty.
func (p *partnered) add(send [][]uint32) {
	p.partners.mu.Lock()
	defer p.partners.mu.Unlock()
	self := p.world[p.Rank()]
	if p.partners.level[self] == nil {
		p.partners.level[self] = map[int]bool{}
	}
	for k, other := range p.world {
		if send != nil && k != p.Rank() && len(send[k]) > 0 {
			p.partners.level[self][other] = true
		}
	}
	p.partners.max = max(p.partners.max, len(p.partners.level[self]))
}

func (p *partnered) endLevel() {
	p.partners.mu.Lock()
	defer p.partners.mu.Unlock()
	delete(p.partners.level, p.world[p.Rank()])
}
