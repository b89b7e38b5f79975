// SPDX-License-Identifier: Apache-2.0

// Package examples contains small complete engines, which are tested like all others. `teps new-engine` copies them and
// replaces the word "mine".
package examples

import "embed"

//go:embed go c openmp cpp rust python
var files embed.FS

// Files returns the examples, one directory each.
func Files() embed.FS { return files }
