#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes graphs of the kinds and sizes of some of Merrill's, as files of tuples.

    graphs.py roads FILE.osm.pbf ROADS.npz               the largest component of roads, with coordinates
    graphs.py europe ROADS.npz ACROSS UP FILE.tuples     ACROSS x UP copies of them
    graphs.py hexagons WIDTH HEIGHT FILE.tuples          three neighbors for each vertex
    graphs.py boxes SIDE UNKNOWNS FILE.tuples            UNKNOWNS vertices at each point, joined to the 27 points around

Needs numpy, and for roads osmium and scipy (Debian: python3-pyosmium, python3-scipy).
"""
import sys

import numpy as np


def roads(source, target):
    import osmium
    import scipy.sparse

    class Roads(osmium.SimpleHandler):
        def __init__(self):
            super().__init__()
            self.edges, self.place = [], {}

        def way(self, way):
            if "highway" in way.tags:
                nodes = [(node.ref, node.location) for node in way.nodes]
                self.place.update((ref, (place.x, place.y)) for ref, place in nodes)
                self.edges += [(a[0], b[0]) for a, b in zip(nodes, nodes[1:]) if a[0] != b[0]]

    r = Roads()
    r.apply_file(source, locations=True)
    labels, edges = np.unique(np.array(r.edges), return_inverse=True)
    edges = edges.reshape(-1, 2)
    matrix = scipy.sparse.coo_matrix((np.ones(len(edges)), edges.T), (len(labels),) * 2)
    component = scipy.sparse.csgraph.connected_components(matrix, directed=False)[1]
    inside = component == np.bincount(component).argmax()
    number = np.cumsum(inside) - 1
    place = np.array([r.place[label] for label in labels[inside]], np.int32)
    np.savez_compressed(target, edges=number[edges[inside[edges[:, 0]]]].astype(np.int32), place=place)


def border(along, outward):
    """Returns the outermost vertex of each of 16 equal pieces of a side, if it is in the outer tenth of the roads."""
    piece = np.minimum((along - along.min()) * 16 // (along.max() - along.min() + 1), 15)
    outer = outward > outward.max() - (outward.max() - outward.min()) // 10
    pieces = [np.flatnonzero(outer & (piece == p)) for p in range(16)]
    return [p[outward[p].argmax()] for p in pieces if len(p)]


def europe(source, across, up, target):
    """Writes copies, each the mirror image of those around it. The vertices of a border are joined to their images."""
    data = np.load(source)
    edges, (x, y) = data["edges"].astype(np.uint32), data["place"].astype(np.int64).T
    n, sides = len(x), {"east": border(y, x), "west": border(y, -x), "north": border(x, y), "south": border(x, -y)}
    with open(target, "wb") as out:
        for row in range(up):
            for column in range(across):
                first = (row * across + column) * n
                write(out, edges[:, 0] + first, edges[:, 1] + first)
                if column + 1 < across:
                    side = np.array(sides["east" if column % 2 == 0 else "west"])
                    write(out, side + first, side + first + n)
                if row + 1 < up:
                    side = np.array(sides["north" if row % 2 == 0 else "south"])
                    write(out, side + first, side + first + across * n)


def hexagons(width, height, target):
    """Writes a wall of bricks: every second vertex of a row is joined to the next row."""
    v = np.arange(width * height, dtype=np.int64).reshape(height, width)
    with open(target, "wb") as out:
        write(out, v[:, :-1], v[:, 1:])
        even = (np.arange(height - 1)[:, None] + np.arange(width)) % 2 == 0
        write(out, v[:-1][even], v[1:][even])


def boxes(side, unknowns, target):
    v = np.arange(side**3, dtype=np.int64).reshape(side, side, side)
    here = {0: slice(None), 1: slice(None, -1), -1: slice(1, None)}
    with open(target, "wb") as out:
        for step in np.ndindex(3, 3, 3):
            d = tuple(s - 1 for s in step)
            if d < (0, 0, 0):
                continue
            a, b = v[tuple(here[i] for i in d)] * unknowns, v[tuple(here[-i] for i in d)] * unknowns
            for i in range(unknowns):
                for j in range(i + 1 if d == (0, 0, 0) else 0, unknowns):
                    write(out, a + i, b + j)


def write(out, a, b):
    """Appends tuples of 12 bytes: the low 32 bits of two labels, and the high 16 bits of both."""
    tuples = np.zeros((a.size, 3), "<u4")
    tuples[:, 0], tuples[:, 1] = a.ravel(), b.ravel()
    tuples.tofile(out)


globals()[sys.argv[1]](*(int(a) if a.isdigit() else a for a in sys.argv[2:]))
