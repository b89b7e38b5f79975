// SPDX-License-Identifier: Apache-2.0

//! An engine of teps: one queue on one thread over compressed sparse rows, and a heap for shortest paths. The types are
//! those of teps_engine.h, which explains them and the functions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::{c_char, c_void};
use std::slice;

#[repr(C)]
pub struct Tuple {
    low_u: u32,
    low_v: u32,
    high: u32,
}

#[repr(C)]
pub struct EngineOption {
    name: [c_char; 32],
    kind: i32,
    bounded: i32,
    min: f64,
    max: f64,
    value: [c_char; 64],
    choices: [c_char; 128],
    meaning: [c_char; 128],
}

#[repr(C)]
pub struct Description {
    abi: i32,
    units: i32,
    name: [c_char; 32],
    version: [c_char; 64],
    summary: [c_char; 256],
    unavailable: [c_char; 256],
    device: [c_char; 128],
    bytes_fixed: f64,
    bytes_per_vertex: f64,
    bytes_per_tuple: f64,
    options: [EngineOption; 16],
    paths_per_vertex: f64,
    paths_per_tuple: f64,
}

#[repr(C)]
pub struct Setting {
    name: [c_char; 32],
    value: [c_char; 256],
}

#[repr(C)]
pub struct Call {
    canceled: i32,
    setting_count: i32,
    settings: [Setting; 16],
    message: [c_char; 512],
    elapsed_ns: i64,
    level_count: i64,
    level_room: i64,
    levels: *mut c_void,
    weights: *const f32,
}

#[repr(C)]
pub struct Graph {
    state: *mut c_void,
    vertices: i64,
    bytes: i64,
    entries: i64,
    vertex_bits: i32,
    reserved: i32,
    tuning: [c_char; 128],
}

const ABI: i32 = 2;
const UNREACHED: i64 = -1;
const OK: i32 = 0;
const TUPLES: i32 = 3;
const CANCELED: i32 = 9;

/// Copies a text that is shorter than the array.
fn put(array: &mut [c_char], text: &str) {
    for (to, byte) in array.iter_mut().zip(text.bytes().chain([0])) {
        *to = byte as c_char;
    }
}

/// teps sets canceled from another thread.
fn canceled(call: *const Call) -> bool {
    unsafe { (&raw const (*call).canceled).read_volatile() != 0 }
}

struct Rows {
    begin: Vec<usize>,       // the edges of v are edges[begin[v]..begin[v + 1]]
    edges: Vec<(u32, f32)>,  // targets and weights, both directions of every tuple
    queue: Vec<u32>,
}

#[no_mangle]
pub unsafe extern "C" fn teps_describe(description: *mut Description) -> i32 {
    description.write_bytes(0, 1);
    let d = &mut *description;
    d.abi = ABI;
    put(&mut d.name, "mine");
    put(&mut d.version, "1");
    put(&mut d.summary, "one queue on one thread, in Rust");
    d.bytes_per_vertex = 20.0; // so that teps can refuse graphs that do not fit
    d.bytes_per_tuple = 16.0;
    d.paths_per_tuple = 64.0; // of the heap
    OK
}

/// Kernel 1: stores every tuple at both of its ends.
#[no_mangle]
pub unsafe extern "C" fn teps_construct(call: *mut Call, tuples: *const Tuple, count: i64, graph: *mut Graph) -> i32 {
    let tuples = if count > 0 { slice::from_raw_parts(tuples, count as usize) } else { &[] };
    if tuples.iter().any(|t| t.high != 0) {
        put(&mut (*call).message, "a label has more than 32 bits");
        return TUPLES;
    }
    let vertices = tuples.iter().map(|t| t.low_u.max(t.low_v) as usize + 1).max().unwrap_or(0);
    let mut rows = Box::new(Rows {
        begin: vec![0; vertices + 1],
        edges: vec![(0, 0.0); 2 * tuples.len()],
        queue: vec![0; vertices],
    });
    for t in tuples { // count, ...
        rows.begin[t.low_u as usize] += 1;
        rows.begin[t.low_v as usize] += 1;
    }
    for v in 0..vertices {
        rows.begin[v + 1] += rows.begin[v];
    }
    let weights = (*call).weights;
    for (i, t) in tuples.iter().enumerate() { // ... and fill each list from its end
        let weight = if weights.is_null() { 0.0 } else { *weights.add(i) };
        for (from, to) in [(t.low_u, t.low_v), (t.low_v, t.low_u)] {
            rows.begin[from as usize] -= 1;
            let place = rows.begin[from as usize];
            rows.edges[place] = (to, weight);
        }
    }
    let g = &mut *graph;
    g.state = Box::into_raw(rows) as *mut c_void;
    g.vertices = vertices as i64;
    g.bytes = 12 * vertices as i64 + 16 * count;
    g.vertex_bits = 32;
    OK
}

/// Kernel 2: replace this.
#[no_mangle]
pub unsafe extern "C" fn teps_search(call: *mut Call, graph: *const Graph, root: i64, parent: *mut i64) -> i32 {
    let rows = &mut *((*graph).state as *mut Rows);
    let parent = slice::from_raw_parts_mut(parent, (*graph).vertices as usize);
    parent.fill(UNREACHED);
    parent[root as usize] = root;
    rows.queue[0] = root as u32;
    let (mut head, mut tail) = (0, 1);
    while head < tail {
        if canceled(call) {
            return CANCELED; // teps no longer wants the result
        }
        let u = rows.queue[head] as usize;
        head += 1;
        for &(v, _) in &rows.edges[rows.begin[u]..rows.begin[u + 1]] {
            if parent[v as usize] == UNREACHED {
                parent[v as usize] = u as i64;
                rows.queue[tail] = v;
                tail += 1;
            }
        }
    }
    OK
}

/// Kernel 3, which is optional: Dijkstra's search. Replace this, too. Distances are not negative, so their bits are in
/// their order.
#[no_mangle]
pub unsafe extern "C" fn teps_shortest_paths(
    call: *mut Call, graph: *const Graph, root: i64, parent: *mut i64, distance: *mut f32,
) -> i32 {
    let rows = &*((*graph).state as *const Rows);
    let parent = slice::from_raw_parts_mut(parent, (*graph).vertices as usize);
    let distance = slice::from_raw_parts_mut(distance, (*graph).vertices as usize);
    parent.fill(UNREACHED);
    distance.fill(f32::INFINITY);
    parent[root as usize] = root;
    distance[root as usize] = 0.0;
    let mut heap = BinaryHeap::from([Reverse((0u32, root as u32))]);
    while let Some(Reverse((bits, u))) = heap.pop() {
        if canceled(call) {
            return CANCELED;
        }
        let (d, u) = (f32::from_bits(bits), u as usize);
        if d > distance[u] {
            continue; // a shorter path was found
        }
        for &(v, weight) in &rows.edges[rows.begin[u]..rows.begin[u + 1]] {
            if d + weight < distance[v as usize] { // less: keeps a tree where weights are 0
                parent[v as usize] = u as i64;
                distance[v as usize] = d + weight;
                heap.push(Reverse(((d + weight).to_bits(), v)));
            }
        }
    }
    OK
}

/// # Safety
/// teps calls it once for each graph.
#[no_mangle]
pub unsafe extern "C" fn teps_free(graph: *mut Graph) {
    drop(Box::from_raw((*graph).state as *mut Rows));
}
