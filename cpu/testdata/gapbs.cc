// A program for the benchmark of package cpu (flag -cpu.peer): searches a graph with GAPBS's bfs, or with one queue on
// one thread. It needs the sources of GAPBS (github.com/sbeamer/gapbs):
//
//	g++ -std=c++17 -O3 -march=native -fopenmp -I gapbs/src -o gapbs-peer cpu/testdata/gapbs.cc
//
// Arguments: gapbs or queue, a file of packed tuples, and a file of roots, each with the number of tuples of its
// component, both written by -cpu.export. It prints a line when it has built its graph. For every line on standard input it searches once from every root and prints the harmonic mean of tuples
// per second, in 10^9. It times what GAPBS times: from nothing to 32-bit parents in the labels of the input.
#define main gapbs_main
#include "bfs.cc"
#undef main

#include <unistd.h>

#include <cstdio>
#include <cstdint>
#include <fstream>
#include <string>

static int64_t reached(const pvector<NodeID> &parent) {
  int64_t n = 0;
  for (NodeID p : parent) n += p >= 0;
  return n;
}

// One queue, one thread, one array of parents.
static pvector<NodeID> QueueBFS(const Graph &g, NodeID root, pvector<NodeID> &queue) {
  pvector<NodeID> parent(g.num_nodes());
  for (NodeID n = 0; n < g.num_nodes(); n++) parent[n] = -1;
  parent[root] = root;
  int64_t end = 0;
  queue[end++] = root;
  for (int64_t i = 0; i < end; i++) {
    NodeID u = queue[i];
    for (NodeID v : g.out_neigh(u)) {
      if (parent[v] < 0) {
        parent[v] = u;
        queue[end++] = v;
      }
    }
  }
  return parent;
}

int main(int argc, char *argv[]) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s gapbs|queue TUPLES ROOTS\n", argv[0]);
    return 2;
  }
  bool with_queue = std::string(argv[1]) == "queue";
  std::ifstream tuples(argv[2], std::ios::binary), roots(argv[3]);
  pvector<EdgePair<NodeID, NodeID>> edges;
  for (uint32_t words[3]; tuples.read(reinterpret_cast<char *>(words), sizeof words);)
    edges.push_back(EdgePair<NodeID, NodeID>(words[0], words[1]));
  std::vector<std::pair<NodeID, int64_t>> searches;
  for (int64_t root, count; roots >> root >> count;) searches.emplace_back(root, count);

  char name[] = "peer", symmetrize[] = "-s", scale[] = "-g1";
  char *arguments[] = {name, symmetrize, scale};
  optind = 1;
  CLBase cli(3, arguments, "peer");
  cli.ParseArgs();
  Builder builder(cli);
  freopen("/dev/null", "w", stderr);
  int saved = dup(1);
  freopen("/dev/null", "w", stdout);
  Graph unsquished = builder.MakeGraphFromEL(edges);
  Graph g = builder.SquishGraph(unsquished);
  fflush(stdout);
  dup2(saved, 1);
  { pvector<EdgePair<NodeID, NodeID>> none; edges.swap(none); }

  pvector<NodeID> queue(g.num_nodes());
  printf("%ld vertices\n", static_cast<long>(g.num_nodes()));
  fflush(stdout);
  char line[16];
  while (fgets(line, sizeof line, stdin)) {
    double seconds = 0;
    for (auto [root, count] : searches) {
      Timer t;
      t.Start();
      pvector<NodeID> parent = with_queue ? QueueBFS(g, root, queue) : DOBFS(g, root);
      t.Stop();
      seconds += t.Seconds() / count;
      if (reached(parent) < 1) return 1;
    }
    printf("%.6f\n", searches.size() / seconds / 1e9);
    fflush(stdout);
  }
}
