package power

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func command(t *testing.T, script string) spec {
	path := program(t, t.TempDir(), "meter", script)
	return spec{text: "command:wall=" + path, source: "command", scope: Wall, value: path, arguments: []string{path}}
}

// alive says whether a process is there and no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("it never came: %s", what)
		}
	}
}

func TestCommandIsAMeter(t *testing.T) {
	t.Setenv(redfishPassword, "secret")
	s := command(t, `echo timestamp,watts
[ -z "$`+redfishPassword+`" ] || exit 1
while :; do echo "$(date +%s.%N),350.5"; sleep 0.01; done`)
	meters, absences, err := Find(t.Context(), Config{Meters: []string{s.text}})
	if err != nil || len(meters) != 1 {
		t.Fatalf("%v, %s", err, reasons(absences))
	}
	if i := meters[0].Info(); i.Scope != Wall || i.Method != Measured || i.Quantity != Power || i.Name != s.text || i.Source != "command" {
		t.Errorf("%+v", i)
	}
	var series []Series
	for wait := 300 * time.Millisecond; wait < 20*time.Second; wait *= 2 { // a busy machine runs the script late
		r := Record(t.Context(), meters, 0)
		time.Sleep(wait)
		if series = r.Stop(); len(series[0].Samples) >= 5 {
			break
		}
	}
	if err := Close(meters); err != nil {
		t.Error(err)
	}
	samples := series[0].Samples
	if len(samples) < 5 {
		t.Fatalf("%d samples came, faults %v", len(samples), series[0].Faults)
	}
	a, err := series[0].Energy(samples[0].Time, samples[len(samples)-1].Time)
	if err != nil || a.Watts < 350.4 || a.Watts > 350.6 || a.How != "trapezoid" {
		t.Errorf("%+v, %v, faults %v", a, err, series[0].Faults)
	}
}

func TestCommandThatDiesIsGoneAndSaysWhy(t *testing.T) {
	s := command(t, "echo ,5; echo ,6; echo 'no: such meter' >&2; exit 3")
	m, err := startCommand(t.Context(), s, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	got := 0
	waitFor(t, "its end", func() bool {
		var r []Reading
		r, err = m.Read(t.Context())
		got += len(r)
		return errors.Is(err, ErrGone)
	})
	if got != 2 || !contains(err, "the program has ended (exit status 3: no: such meter)") {
		t.Errorf("%d readings, %v", got, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestCommandThatGivesNothingIsAbsent(t *testing.T) {
	for script, want := range map[string]string{
		"echo hello; sleep 60":       `no line like "timestamp,watts" or "timestamp,watts,joules" came within`,
		"exec sleep 60":              `no line like "timestamp,watts"`,
		"echo broken >&2; exit 1":    "the program has ended (exit status 1: broken)",
		"exec >&-; sleep 60":         "it has closed its output",
		"trap '' TERM; exec 1>&2; :": "the program has ended",
	} {
		limit := 200 * time.Millisecond
		if !strings.Contains(want, "line") {
			limit = 10 * time.Second
		}
		if m, err := startCommand(t.Context(), command(t, script), limit); m != nil || !contains(err, want) {
			t.Errorf("%q: %v", script, err)
		}
	}
	s := spec{text: "command:wall=/no/such/program", source: "command", scope: Wall, value: "/no/such/program", arguments: []string{"/no/such/program"}}
	if m, err := startCommand(t.Context(), s, time.Second); m != nil || !contains(err, "it does not start") {
		t.Errorf("%v", err)
	}
	if _, absences, err := Find(t.Context(), Config{Meters: []string{s.text}}); err != nil || len(absences) != 1 || !absences[0].Asked {
		t.Errorf("%v, %+v", err, absences)
	}
}

func TestCommandThatIgnoresSIGTERMIsKilledWithItsChildren(t *testing.T) {
	file := t.TempDir() + "/pids"
	s := command(t, `trap '' TERM
sleep 1000 &
echo $$ $! > `+file+`
echo ,5
while :; do sleep 1000; done`)
	m, err := startCommand(t.Context(), s, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > politeness+5*time.Second {
		t.Errorf("closing took %v", took)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, _ := strconv.Atoi(field)
		waitFor(t, "the end of process "+field, func() bool { return !alive(pid) })
	}
	if err := m.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

func TestCommandThatFloodsIsHeldBack(t *testing.T) {
	m, err := startCommand(t.Context(), command(t, "while :; do echo ,5; done"), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fault", func() bool {
		_, err := m.Read(t.Context())
		return contains(err, "more than 1000 lines came in a second, and were made to wait")
	})
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestHostThatDiesTakesItsMetersAlong runs this test as a host of its own, and kills it.
func TestHostThatDiesTakesItsMetersAlong(t *testing.T) {
	if file := os.Getenv("TEPS_TEST_METER"); file != "" {
		if _, err := startCommand(t.Context(), spec{source: "command", scope: Wall, value: file, arguments: []string{file}}, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		_, _ = os.Stdout.WriteString("\nmeter runs\n")
		select {}
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends the children of a process that was killed")
	}
	pids := t.TempDir() + "/pid"
	s := command(t, "echo $$ > "+pids+"\necho ,5\nexec sleep 1000")
	host := exec.Command(os.Args[0], "-test.run=^TestHostThatDiesTakesItsMetersAlong$")
	host.Env = append(os.Environ(), "TEPS_TEST_METER="+s.value)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "meter runs"; {
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if !alive(pid) {
		t.Fatal("the meter does not run")
	}
	_ = host.Process.Kill()
	_ = host.Wait()
	waitFor(t, "the meter's end", func() bool { return !alive(pid) })
}
