package power

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A board's controller (BMC) can be asked for the power of the node with DCMI, an extension of IPMI (DCMI 1.5, 6.6.1). The
// program ipmitool asks it.

const ipmiPeriod = time.Second

func findIPMI(ctx context.Context, tree fs.FS) ([]Meter, []Absence) {
	absent := func(reason string) ([]Meter, []Absence) {
		return nil, []Absence{{Source: "ipmi", Reason: reason}}
	}
	device := ""
	for _, path := range []string{"dev/ipmi0", "dev/ipmi/0", "dev/ipmidev/0"} {
		if _, err := fs.Stat(tree, path); err == nil {
			device = "/" + path
		}
	}
	if device == "" {
		return absent("there is no /dev/ipmi0: no board controller, or its driver is not loaded (try: modprobe ipmi_si ipmi_devintf)")
	}
	tool, err := exec.LookPath("ipmitool")
	if err != nil {
		return absent("ipmitool was not found in PATH (on Debian: apt-get install ipmitool)")
	}
	b := bmc{tool: tool, device: device}
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := b.Read(limited); err != nil {
		return absent(err.Error())
	}
	return []Meter{b}, nil
}

type bmc struct{ tool, device string }

func (b bmc) Info() Info {
	return Info{Name: "ipmi:dcmi", Source: "ipmi", Scope: Node, Method: Measured, Quantity: Power, Period: ipmiPeriod, Step: 1,
		Detail: b.tool + " dcmi power reading, " + b.device}
}

func (b bmc) Pace() time.Duration { return ipmiPeriod }
func (b bmc) Close() error        { return nil }

func (b bmc) Read(ctx context.Context) ([]Reading, error) {
	runtime.LockOSThread() // the program would be killed when the thread that started it ends
	defer runtime.UnlockOSThread()
	begin := time.Now()
	c := exec.CommandContext(ctx, b.tool, "dcmi", "power", "reading")
	c.SysProcAttr = meterAttributes()
	c.Cancel = func() error { return killGroup(c.Process.Pid) }
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	window := time.Since(begin)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("ipmitool did not answer in time: %w", ctx.Err())
	}
	watts, explained := parseDCMI(string(out))
	if explained != nil {
		return nil, explained
	}
	if err != nil {
		return nil, fmt.Errorf("ipmitool: %w", err)
	}
	return []Reading{{Time: begin.Add(window / 2), Value: watts, Window: window}}, nil
}

var (
	dcmiWatts = regexp.MustCompile(`(?m)^\s*Instantaneous power reading:\s*(\d+) Watts`)
	dcmiState = regexp.MustCompile(`(?m)^\s*Power reading state is:\s*(\S+)`)
)

// parseDCMI understands what ipmitool prints.
func parseDCMI(out string) (float64, error) {
	if state := dcmiState.FindStringSubmatch(out); state != nil && state[1] != "activated" {
		return 0, errors.New("the board controller's power reading is " + state[1] + " (try: ipmitool dcmi power activate)")
	}
	found := dcmiWatts.FindStringSubmatch(out)
	if found == nil {
		line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
		switch {
		case line == "":
			line = "nothing"
		case strings.Contains(strings.ToLower(line), "permission"):
			line += " (run as root, or let this user read and write the device)"
		case strings.Contains(line, "DCMI request failed"), strings.Contains(line, "Invalid command"):
			line += " (the board controller has no DCMI power reading)"
		}
		return 0, errors.New("ipmitool answers: " + line)
	}
	watts, err := strconv.ParseFloat(found[1], 64)
	if err == nil && watts == 0 {
		err = errors.New("the board controller reads 0 W, which cannot be")
	}
	return watts, err
}
