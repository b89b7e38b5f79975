//go:build !linux

package native

// privateMemory is not known here, so leaks are not seen.
func privateMemory() (bytes int64, known bool) { return 0, false }

// codeOf is not known here: messages of crashes do without the place.
func codeOf(string) (low, high uintptr) { return 0, 0 }
