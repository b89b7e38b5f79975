// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"errors"
	"fmt"
	"slices"
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

// outOfMemory reports whether err says that the memory of the device or of the driver is too small.
func outOfMemory(err error) bool { return has(err, -4, -5, -6, -61) }

// Lost reports whether err, of a command after the memory was allocated, says that the device is gone: it was reset by
// the driver's watchdog, removed, or has crashed. -9999 is NVIDIA's code for an illegal access.
func Lost(err error) bool { return has(err, -2, -5, -14, -34, -36, -9999) }
