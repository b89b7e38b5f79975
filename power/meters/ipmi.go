// SPDX-License-Identifier: Apache-2.0

package meters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tepsbench/teps/internal/child"
	"github.com/tepsbench/teps/power"
)

// A board's management controller (BMC) reports the power of the node through DCMI, an extension of IPMI (DCMI 1.5,
// 6.6.1). The program ipmitool asks it.

func ipmiSource() Source {
	return Source{Name: "ipmi", Help: "the management controller, through ipmitool", Open: openIPMI}
}

func openIPMI(ctx context.Context, r Request) ([]power.Meter, error) {
	device := ""
	for _, path := range []string{"dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"} {
		if _, err := fs.Stat(r.files(), path); err == nil {
			device = "/" + path
		}
	}
	if device == "" {
		return nil, errors.New("there is no /dev/ipmi0: the board has no management controller, or its driver is not " +
			"loaded (try: modprobe ipmi_si ipmi_devintf)")
	}
	tool, err := exec.LookPath("ipmitool")
	if err != nil {
		return nil, errors.New("ipmitool is not in PATH (on Debian: apt-get install ipmitool)")
	}
	m := &polled{
		info: power.Info{
			Name: "ipmi:dcmi", Source: "ipmi", Scope: power.Node, Method: power.Measured, Quantity: power.Power,
			Period: time.Second, MinInterval: time.Second, Step: 1, Detail: tool + " dcmi power reading, " + device,
		},
		show: func(ctx context.Context) (float64, error) { return askDCMI(ctx, tool) },
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := m.Read(ctx); err != nil {
		return nil, err
	}
	return []power.Meter{m}, nil
}

func askDCMI(ctx context.Context, tool string) (float64, error) {
	var out strings.Builder
	cmd := exec.CommandContext(ctx, tool, "dcmi", "power", "reading")
	cmd.Stdout, cmd.Stderr = &out, &out
	process, err := child.Start(cmd, syscall.SIGKILL, nil)
	if err == nil {
		err = process.Wait()
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("ipmitool did not answer in time: %w", ctx.Err())
	}
	watts, explanation := parseDCMI(out.String())
	return watts, cmp.Or(explanation, err)
}

func parseDCMI(out string) (float64, error) {
	state := regexp.MustCompile(`(?m)^\s*Power reading state is:\s*(\S+)`).FindStringSubmatch(out)
	if state != nil && state[1] != "activated" {
		return 0, fmt.Errorf("the controller's power reading is %s (try: ipmitool dcmi power activate)", state[1])
	}
	match := regexp.MustCompile(`(?m)^\s*Instantaneous power reading:\s*(\d+) Watts`).FindStringSubmatch(out)
	if match == nil {
		line, _, _ := strings.Cut(cmp.Or(strings.TrimSpace(out), "nothing"), "\n")
		switch {
		case strings.Contains(strings.ToLower(line), "permission"):
			line += " (run as root, or give this user access to the device)"
		case strings.Contains(line, "DCMI request failed"), strings.Contains(line, "Invalid command"):
			line += " (the controller cannot report power)"
		}
		return 0, errors.New("ipmitool printed: " + line)
	}
	watts, err := strconv.ParseFloat(match[1], 64)
	if err == nil && watts == 0 {
		err = errors.New("the controller reports 0 W, which cannot be right")
	}
	return watts, err
}
