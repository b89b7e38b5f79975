package rpc

import (
	"fmt"
	"os"
)

// PrivateMemory returns the bytes of memory that the engine's process shares with nobody. It is not known once the
// process has ended.
func (c *Client) PrivateMemory() (bytes int64, known bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.PID()))
	if err != nil {
		return 0, false
	}
	var size, resident, shared int64 // pages, see proc(5)
	if _, err := fmt.Sscan(string(data), &size, &resident, &shared); err != nil {
		return 0, false
	}
	return (resident - shared) * int64(os.Getpagesize()), true
}
