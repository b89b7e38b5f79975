package native

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// privateMemory returns the bytes of memory that this process shares with nobody.
func privateMemory() (bytes int64, known bool) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	var size, resident, shared int64
	if _, err := fmt.Sscan(string(data), &size, &resident, &shared); err != nil {
		return 0, false
	}
	return (resident - shared) * int64(os.Getpagesize()), true
}

// codeOf returns where the code of a loaded library lies: from the beginning of its first mapping, which addresses in
// the file are relative to, to the end of its last one. 0, 0 if it cannot be found.
func codeOf(path string) (low, high uintptr) {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); n != 2 || !strings.HasSuffix(lines.Text(), " "+path) {
			continue
		}
		if low == 0 {
			low = from
		}
		high = to
	}
	return low, high
}
