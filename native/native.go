// SPDX-License-Identifier: Apache-2.0

// Package native makes an engine of a shared library with the functions of teps_engine.h: C, C++, CUDA, Fortran, or any
// other language that can export C functions. It runs inside a separate process, so that a crash of the library is the
// error of one call. Before the process dies, crash.c prints one line about the library's fault.
//
// All calls come from one thread, the first of the process, because OpenMP keeps a team of threads for every thread
// that calls it, and glibc a heap; memory that a search frees stays in the process. The rest of the contract, apart
// from the two kernels, is plugins.New. Package rpc makes the memory around tuples and parents inaccessible, and the
// host validates every search.
package native

import _ "embed"

//go:embed teps_engine.h
var header string

// Header returns the text of teps_engine.h, which a library includes.
func Header() string { return header }
