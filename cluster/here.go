// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"
)

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
