// Package harness is the protocol of the benchmark: generate, construct, search, validate, record, summarise. run.go
// holds it from top to bottom; config.go what can be asked for, roots.go the draw of the roots, memory.go the refusal
// of what does not fit, input.go the tuples and roots that engines of one scale share, energy.go the loop in which energy is
// measured, store.go the folder a run leaves behind, seal.go what tells whether a record is as it was written,
// statistics.go and compliance.go what is made of it, and result.go the form of the record.
//
// The package sees engines through package plugins alone: a Host opens them and lends the memory that is shared with
// them, so the same protocol runs over processes (package rpc) and, in tests, inside one.
package harness
