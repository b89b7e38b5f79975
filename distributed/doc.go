// Package distributed is an engine whose ranks own parts of the graph and share nothing but messages. It cuts the graph
// in one dimension (vertices by owner) or in two (a grid of ranks over the adjacency matrix), with the same search in
// both, and counts and times what every rank sends, so that the cuts can be compared with numbers.
//
// Ranks are goroutines of one process (New) or processes under MPI (NewMPI). A reader begins with partition.go, which
// draws the grid, and goes on to bfs2d.go and bfs1d.go, which hold the search.
package distributed
