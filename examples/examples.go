// Package examples holds engines to begin from: complete, small, and tested like every engine. `teps new-engine` copies
// them, with another name in the place of the word "mine".
package examples

import "embed"

//go:embed go c openmp python
var files embed.FS

// Files are the examples, a folder each.
func Files() embed.FS { return files }
