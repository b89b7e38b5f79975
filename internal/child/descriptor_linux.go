// SPDX-License-Identifier: Apache-2.0

package child

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// DescriptorPath returns the path by which other processes of this user open a file descriptor of this process. The
// process ID in it is that of /proc, which may be of an outer PID namespace. It is an error where the kernel refuses
// them: /proc is missing, or this program has capabilities (setcap) that they lack, or may not be read.
func DescriptorPath(fd uintptr) (string, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return "", err
	}
	var caps [2]unix.CapUserData
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil {
		err = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0])
	}
	if err == nil && (dumpable != 1 || os.Geteuid() != 0 && caps[0].Permitted|caps[1].Permitted != 0) {
		return "", errors.New("ptrace(2) would not be allowed")
	}
	return fmt.Sprintf("/proc/%s/fd/%d", self, fd), nil
}
