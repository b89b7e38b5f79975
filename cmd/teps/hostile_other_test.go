//go:build !linux || !cgo

package main

// serveHostile would be the engine of TestHostileEngines, which needs Linux and cgo.
func serveHostile() {}
