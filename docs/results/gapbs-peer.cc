// SPDX-License-Identifier: Apache-2.0

// gapbs-peer.cc: GAPBS's bfs as the peer of the benchmark of teps (-cpu.peer "peer PATH"). It reads PATH.tuples and
// PATH.roots, builds GAPBS's graph, and searches from all roots for each line of its standard input. "peer PATH queue"
// searches the same graph with one queue on one thread.
//
//	g++ -std=c++17 -O3 -march=native -fopenmp -I gapbs/src -o peer gapbs-peer.cc
#define main bfs_main
#include "bfs.cc"
#undef main
#include <cstdint>
#include <cstdio>
#include <omp.h>
#include <unistd.h>

static pvector<NodeID> QueueBFS(const Graph& g, NodeID root, pvector<NodeID>& queue) {
  pvector<NodeID> parent(g.num_nodes());
  for (NodeID n = 0; n < g.num_nodes(); n++) parent[n] = -1;
  parent[root] = root;
  int64_t end = 0;
  queue[end++] = root;
  for (int64_t i = 0; i < end; i++)
    for (NodeID v : g.out_neigh(queue[i]))
      if (parent[v] < 0) {
        parent[v] = queue[i];
        queue[end++] = v;
      }
  return parent;
}

int main(int argc, char* argv[]) {
  bool one_queue = argc == 3 && std::string(argv[2]) == "queue";
  if (argc != 2 && !one_queue) { fprintf(stderr, "peer PATH [queue]\n"); return 2; }
  std::string path = argv[1];
  std::vector<std::pair<NodeID, double>> roots;
  std::ifstream text(path + ".roots");
  for (long long root, tuples; text >> root >> tuples;) roots.push_back({(NodeID)root, (double)tuples});
  FILE* f = fopen((path + ".tuples").c_str(), "rb");
  if (!f || roots.empty()) { perror(path.c_str()); return 1; }
  fseek(f, 0, SEEK_END);
  size_t n = ftell(f) / 12;
  rewind(f);
  pvector<EdgePair<NodeID>> edges(n);
  std::vector<uint32_t> words(3 << 16);
  for (size_t i = 0; i < n;) {
    size_t got = fread(words.data(), 12, 1 << 16, f);
    for (size_t k = 0; k < got; k++, i++) edges[i] = EdgePair<NodeID>(words[3 * k], words[3 * k + 1]);
    if (got == 0) return 1;
  }
  fclose(f);
  const char* args[] = {"bfs", "-s", "-g10"};
  CLBase cli(3, const_cast<char**>(args), "bfs");
  if (!cli.ParseArgs()) return 1;
  FILE* answer = fdopen(dup(1), "w");
  if (!freopen("/dev/null", "w", stdout)) return 1;  // GAPBS prints the times of its phases
  Timer timer;
  timer.Start();
  BuilderBase<NodeID> builder(cli);
  Graph g = builder.MakeGraphFromEL(edges);
  g = builder.SquishGraph(g);
  timer.Stop();
  pvector<NodeID> queue(g.num_nodes());
  fprintf(answer, "GAPBS, %d threads, %lld edges, built in %.2f s\n", omp_get_max_threads(), (long long)g.num_edges(),
          timer.Seconds());
  fflush(answer);
  for (std::string line; std::getline(std::cin, line);) {
    double sum = 0;
    for (auto [root, tuples] : roots) {
      timer.Start();
      pvector<NodeID> parent = one_queue ? QueueBFS(g, root, queue) : DOBFS(g, root, false);
      timer.Stop();
      sum += timer.Seconds() / tuples;
    }
    fprintf(answer, "%.4f\n", roots.size() / sum / 1e9);
    fflush(answer);
  }
  return 0;
}
