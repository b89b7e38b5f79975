// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package validate

import "github.com/tepsbench/teps/graph"

// hugePages does nothing on systems without a call for huge pages.
func hugePages[T int32 | uint16 | uint32 | uint64 | graph.Vertex](array []T) []T { return array }
