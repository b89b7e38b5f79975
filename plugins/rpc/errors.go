package rpc

import "errors"

// What can go wrong with an engine's process. A Client's method wraps one of these, or an error of the engine itself
// (the sentinels of package plugins), never both. After ErrCrashed, ErrHung and ErrStopped the process is gone, and
// every later call of that Client returns the same error; the Host and its segments are as they were, and the program
// can be opened again.
var (
	ErrProgram   = errors.New("program cannot be started")                    // missing, a folder, not executable, for another machine
	ErrChecksum  = errors.New("program is not the expected one")              // SHA-256 differs, or the file changed meanwhile
	ErrHandshake = errors.New("program does not behave as an engine of teps") // rubbish, silence or an exit instead of the handshake
	ErrVersion   = errors.New("engine speaks another protocol version")
	ErrCrashed   = errors.New("engine has crashed")               // its process ended by itself, or it cut the connection
	ErrHung      = errors.New("engine does not return")           // it ignored the end of a call's context; killed
	ErrStopped   = errors.New("engine is stopped")                // by SIGSTOP or the like, for longer than HostOptions.StopLimit; killed
	ErrAnswer    = errors.New("engine gave an impossible answer") // negative times, unknown words; the engine lives on
	ErrBusy      = errors.New("engine is in another call")        // calls come one at a time
)
