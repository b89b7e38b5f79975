// Package harness is the protocol of the benchmark: generate, construct, search, validate, record, summarise.
package harness
