//go:build !linux

package rpc

// PrivateMemory is not known on this system.
func (c *Client) PrivateMemory() (bytes int64, known bool) { return 0, false }
