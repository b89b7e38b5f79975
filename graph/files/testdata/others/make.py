# SPDX-License-Identifier: Apache-2.0

"""Writes the other files here: python3 make.py, with scipy 1.10.1 and networkx 2.8.8 (Debian 12)."""
import networkx
import numpy
import scipy.io
from scipy.sparse import coo_matrix
# a directed graph of 7 vertices with a self-loop and an isolated vertex
arcs = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (4, 4), (5, 3)]
rows, columns = numpy.array(arcs).T
values = numpy.arange(1, len(arcs) + 1)
general = coo_matrix((values, (rows, columns)), shape=(7, 7))
upper = coo_matrix((values[[0, 2, 3, 4]], ([0, 1, 2, 1], [1, 2, 3, 3])), shape=(7, 7))
symmetric = upper + upper.T
for name, matrix, field, symmetry in [
    ("general-integer", general, "integer", "general"),
    ("general-real", general * 0.5, "real", "general"),
    ("general-pattern", general, "pattern", "general"),
    ("general-complex", general * 1j, "complex", "general"),
    ("symmetric-integer", symmetric, "integer", "symmetric"),
    ("symmetric-real", symmetric * 1e-300, "real", "symmetric"),
    ("symmetric-pattern", symmetric, "pattern", "symmetric"),
    ("skew", upper - upper.T, "integer", "skew-symmetric"),
    ("hermitian", upper * 1j - upper.T * 1j, "complex", "hermitian"),
    ("array", general.toarray(), "integer", "general"),
]:
    scipy.io.mmwrite(f"scipy-{name}.mtx", matrix, comment="written by scipy", field=field, symmetry=symmetry)
graph = networkx.DiGraph(arcs)
networkx.write_edgelist(graph, "networkx.edgelist.txt")
networkx.write_edgelist(graph, "networkx-bare.el", data=False)
networkx.set_edge_attributes(graph, 2.5, "weight")
networkx.write_edgelist(graph, "networkx-weight.txt")
networkx.write_weighted_edgelist(graph, "networkx.wel")
networkx.write_edgelist(graph, "networkx.el.gz", data=False)
