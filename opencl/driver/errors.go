// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tepsbench/teps/plugins"
)

// Error is an error code of OpenCL.
type Error struct {
	Code int32
	Call string // the function
}

// codes are the names of the errors that a correct program can meet (cl.h).
var codes = map[int32]string{
	-1: "CL_DEVICE_NOT_FOUND", -2: "CL_DEVICE_NOT_AVAILABLE", -3: "CL_COMPILER_NOT_AVAILABLE",
	-4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY",
	-11: "CL_BUILD_PROGRAM_FAILURE", -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -12: "CL_MAP_FAILURE",
	-33: "CL_INVALID_DEVICE", -34: "CL_INVALID_CONTEXT", -36: "CL_INVALID_COMMAND_QUEUE", -43: "CL_INVALID_BUILD_OPTIONS",
	-54: "CL_INVALID_WORK_GROUP_SIZE", -61: "CL_INVALID_BUFFER_SIZE",
}

func (e *Error) Error() string {
	if name := codes[e.Code]; name != "" {
		return fmt.Sprintf("%s: %s (%d)", e.Call, name, e.Code)
	}
	return fmt.Sprintf("%s: OpenCL error %d", e.Call, e.Code)
}

// has reports whether err is one of the error codes.
func has(err error, codes ...int32) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// explain adds to an error of OpenCL what it means to a user. The driver of a device that is lost is not called again,
// because calls of some drivers then never return.
func (c *Context) explain(err error, allocates bool) error {
	// A full device refuses an array at once, or a command that uses it later. -9999 is NVIDIA's code for a wrong access.
	switch {
	case has(err, -4, -6, -61) || allocates && has(err, -5):
		return fmt.Errorf("the OpenCL device %s has too little memory left (%w): %w; use a smaller graph or another device",
			c.Name, err, plugins.ErrMemory)
	case has(err, -2, -5, -14, -34, -36, -9999):
		c.lost = true
		why := "it was reset or removed, or its driver has crashed"
		if took := time.Since(c.began); !c.began.IsZero() && took > watchdog {
			why = fmt.Sprintf("its commands took %.1f s, and a watchdog has probably stopped them; use a smaller graph, or a "+
				"device without a display", took.Seconds())
		}
		return &lostError{fmt.Errorf("the OpenCL device %s is lost: %s (%w; the system's log may say more)", c.Name, why,
			err)}
	}
	return err
}

// lostError wraps plugins.ErrNotConstructed: the graph is lost too.
type lostError struct{ error }

func (e *lostError) Unwrap() []error { return []error{plugins.ErrNotConstructed, e.error} }

// watchdog is the least time after which watchdogs stop commands; those of displays wait two seconds.
const watchdog = time.Second

// BuildError says that the driver of a device does not compile the kernels. It wraps plugins.ErrUnavailable.
type BuildError struct {
	Device Device
	Log    string // of the compiler
	Err    error
}

// Error has the first line of the log that names an error, or the first line.
func (e *BuildError) Error() string {
	lines := strings.Split(strings.TrimSpace(e.Log), "\n")
	first := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(strings.ToLower(line), "error") })
	return fmt.Sprintf("%v: %s %s does not compile the kernels for the OpenCL device %s (%v): %s", plugins.ErrUnavailable,
		e.Device.Platform, e.Device.Driver, e.Device.Name, e.Err,
		cmp.Or(strings.TrimSpace(lines[max(first, 0)]), "without a message"))
}

func (e *BuildError) Unwrap() []error { return []error{plugins.ErrUnavailable, e.Err} }
