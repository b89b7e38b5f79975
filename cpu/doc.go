// Package cpu is the engine that searches with goroutines on the processors of one machine.
//
// bfs.go holds the search, build.go kernel 1, engine.go the contract's side of both. The graph lies in arrays without
// pointers outside the Go heap (memory_linux.go), and a team of workers that is started once (workers.go) runs every
// parallel phase of either kernel.
package cpu
