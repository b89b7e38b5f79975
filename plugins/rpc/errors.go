package rpc

import "errors"

// What can go wrong with an engine's process. The error of a Client's method wraps one of these or is an error of the
// engine itself (see package plugins). After ErrCrashed and ErrHung the process is gone, and every later call of that
// Client fails with the same error. The Host and its memory are not affected, and the program can be opened again.
var (
	ErrProgram   = errors.New("program cannot be started")                    // missing, not executable, for another CPU
	ErrChecksum  = errors.New("program is not the expected one")              // another SHA-256, or the file changed
	ErrHandshake = errors.New("program does not behave as an engine of teps") // printed nonsense or nothing, or ended
	ErrCrashed   = errors.New("engine has crashed")                           // its process ended or closed the connection
	ErrHung      = errors.New("engine does not return")                       // after the end of a call's context; killed
	ErrAnswer    = errors.New("engine gave an impossible answer")             // such as a negative time; still usable
	ErrBusy      = errors.New("engine is in another call")                    // calls must come one at a time
	ErrSegment   = errors.New("unusable shared memory")                       // could not be made or mapped
)
