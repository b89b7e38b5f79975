// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tepsbench/teps/internal/must"
	"github.com/tepsbench/teps/power"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/testdata/samples"
)

// The page is looked at in Chromium, through its debugging protocol over a pipe (--remote-debugging-pipe): messages are
// JSON, each ended by a zero byte. Needs Debian's package chromium, or Chrome.

var (
	inBrowser = flag.Bool("browser", false, "look at the page in Chromium")
	pageOf    = flag.String("record", "../../docs/results/runs/s16-22",
		"the directory of the record that the page is of (with -browser)")
	screenshots = flag.String("screenshots", "", "write pictures of the page into this directory (with -browser)")
)

type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	last    int
	session string
}

// openBrowser starts Chromium, or skips the test and says what is missing.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	if !*inBrowser {
		t.Skip("to look at the page in Chromium: go test ./reports/page -run Browser -browser")
	}
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("there is no Chromium on the path (Debian: apt-get install chromium)")
	}
	theirIn, ourOut := must.Get2(os.Pipe())
	ourIn, theirOut := must.Get2(os.Pipe())
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	c.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	must.Do(c.Start())
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	watchdog := time.AfterFunc(2*time.Minute, func() { c.Process.Kill() })
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		c.Wait() // its own exit code says nothing about the page
		watchdog.Stop()
		ourOut.Close()
		ourIn.Close()
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"],
		"flatten": true})["sessionId"].(string)
	b.call("Page.enable", nil)
	return b
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result map[string]any  `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (b *browser) read() message {
	b.t.Helper()
	data, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("Chromium has left: %v", err)
	}
	var m message
	must.Do(json.Unmarshal(data[:len(data)-1], &m))
	return m
}

func (b *browser) call(method string, parameters map[string]any) map[string]any {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method, "params": parameters}
	if parameters == nil {
		request["params"] = map[string]any{}
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data := must.Get(json.Marshal(request))
	must.Get(b.to.Write(append(data, 0)))
	for {
		if m := b.read(); m.ID == b.last {
			if m.Error != nil {
				b.t.Fatalf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
}

// show opens a file in a window of that width, in the light or the dark scheme.
func (b *browser) show(path string, width int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1,
		"mobile": false})
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme",
		"value": scheme}}})
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	for b.read().Method != "Page.loadEventFired" {
	}
}

// ask evaluates an expression in the page.
func (b *browser) ask(expression string) string {
	b.t.Helper()
	result := b.call("Runtime.evaluate", map[string]any{"expression": "String(" + expression + ")",
		"returnByValue": true})
	return fmt.Sprint(result["result"].(map[string]any)["value"])
}

// picture is the page from its top to that height, as PNG.
func (b *browser) picture(width, height int) []byte {
	b.t.Helper()
	shot := b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
	data := must.Get(base64.StdEncoding.DecodeString(shot["data"].(string)))
	return data
}

// photograph writes the top of the page that is shown into the directory of -screenshots.
func (b *browser) photograph(name string, width int) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	height := must.Get(strconv.Atoi(b.ask("Math.min(document.documentElement.scrollHeight, 2400)")))
	must.Do(os.WriteFile(filepath.Join(*screenshots, name), b.picture(width, height), 0o644))
}

// The page of many records or runs fits a few screens, and is sent in an email.
func TestPagesOfManyRunsInABrowser(t *testing.T) {
	var names []string
	var many []record.Result
	for i := range 30 {
		names = append(names, fmt.Sprintf("cpu:threads=%d", i+1))
		many = append(many, samples.Result(names[i:i+1], 16))
	}
	for name, results := range map[string][]record.Result{
		"30 records": sweepOf(10), "page-sweep-1280-light.png": sweepOf(11), "30 engines": many,
		"30 runs": {samples.Result(names, 16)}, "committed": committed(),
		"page-store-1280-light.png": samples.Store(4, 1, 1, 1.12, 0.95, 0.95),
	} {
		b := openBrowser(t)
		text := page(results...)
		b.show(write(t, text), 1280, "light")
		height, err := strconv.Atoi(b.ask("document.documentElement.scrollHeight"))
		if name != "committed" && (err != nil || height > 6000 || len(text) > 3e6) {
			t.Errorf("%s: the page is %d pixels tall and has %d bytes, want at most 6,000 and 3,000,000 (%v)", name, height,
				len(text), err)
		}
		must.Equal(t, b.ask("document.documentElement.scrollWidth"), "1280", name)
		must.Equal(t, b.ask(textsOutside), "", name)
		if name == "30 records" { // on a phone, too
			b.show(write(t, strings.ReplaceAll(text, "at scale 16", "on uniform:1000000:16000000")), 390, "light")
			must.Equal(t, b.ask("document.documentElement.scrollWidth"), "390", name)
		}
		if strings.HasSuffix(name, ".png") {
			b.photograph(name, 1280)
		}
	}
}

// sweepOf makes the records of a sweep: n repeats of three variants, one run in each record.
func sweepOf(n int) (all []record.Result) {
	for i := range n {
		for speed, name := range []string{"cpu", "cpu:adjacency=csr", "distributed"} {
			r := samples.Result([]string{name}, 16)
			r.ID = fmt.Sprintf("%s-%d", name, i+1)
			r.Runs[0] = samples.Run(name, speed, 16, 64)
			r.Runs[0].Statistics.TEPS.Mean *= 1 + float64(i)/100
			all = append(all, r)
		}
	}
	return all
}

// committed returns the records in docs/results/runs.
func committed() (all []record.Result) {
	runs := must.Get(record.Runs("../../docs/results/runs"))
	for _, run := range runs {
		r := must.Get(record.Load(run))
		all = append(all, r)
	}
	return all
}

func write(t *testing.T, page string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "report.html")
	must.Do(os.WriteFile(path, []byte(page), 0o644))
	return path
}

// textsOutside are the texts that leave their drawings by more than typefaces differ, two pixels.
const textsOutside = `[...document.querySelectorAll('svg text')].filter(e => {
	const r = e.getBoundingClientRect(), s = e.closest('svg').getBoundingClientRect();
	return r.width > 0 && (r.left < s.left - 2 || r.right > s.right + 2 || r.top < s.top - 2 || r.bottom > s.bottom + 2)
}).map(e => e.textContent).join(' | ')`

// In both schemes and at every width nothing hangs over the page's edge, no text lies outside its drawing, the scheme
// reaches the drawings, and nothing is fetched. With -screenshots the page is also written as it looks.
func TestPageInABrowser(t *testing.T) {
	b := openBrowser(t)
	references := must.Get(reports.References("kolganov-2018"))
	r := must.Get(record.Load(*pageOf))
	path := write(t, pageWith(references, r))
	grounds := map[string]string{}
	for _, width := range []int{1280, 900, 480, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.show(path, width, scheme)
			must.Equal(t, b.ask("document.documentElement.scrollWidth"), strconv.Itoa(width), width, scheme)
			must.Equal(t, b.ask("performance.getEntriesByType('resource').length"), "0", width, scheme)
			must.Equal(t, b.ask(textsOutside), "", width, scheme)
			// What is wider than its place shows a shadow where it goes on.
			if n := b.ask(`[...document.querySelectorAll('.scroll, .drawing')].filter(e => e.scrollWidth > e.clientWidth &&
				!/gradient.*gradient.*gradient/.test(getComputedStyle(e).backgroundImage)).length`); n != "0" {
				t.Errorf("%d %s: %s tables and figures are cut without a hint", width, scheme, n)
			}
			// A value next to its name has room for several words.
			if narrow := b.ask(`[...document.querySelectorAll('dd')].filter(e => e.offsetWidth > 0 &&
				e.offsetWidth < 200).map(e => e.textContent).join(' | ')`); narrow != "" {
				t.Errorf("%d %s: values in narrow columns: %s", width, scheme, narrow)
			}
			grounds[scheme] = b.ask("getComputedStyle(document.body).backgroundColor + ' ' + " +
				"getComputedStyle(document.querySelector('svg text')).fill")
			// The rate is in sight on a phone, without scrolling the table.
			if inSight := b.ask(`(() => { const table = document.querySelector('.scroll');
				const rate = [...table.querySelectorAll('th')].find(e => e.textContent.trim() == 'GTEPS');
				return rate.getBoundingClientRect().right < table.getBoundingClientRect().right })()`); inSight != "true" {
				t.Errorf("%d %s: the GTEPS of the first table are cut off", width, scheme)
			}
			if width == 1280 && scheme == "light" || width == 390 && scheme == "dark" {
				b.photograph(fmt.Sprintf("page-%d-%s.png", width, scheme), width)
			}
		}
	}
	if grounds["light"] == grounds["dark"] {
		t.Errorf("ground and ink are %s in both schemes", grounds["light"])
	}
	// On paper is what is open on the screen: the best run.
	printed, err := base64.StdEncoding.DecodeString(b.call("Page.printToPDF",
		map[string]any{"printBackground": true})["data"].(string))
	must.Do(err)
	program, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Skip("there is no pdftotext to read the printed page with (Debian: apt-get install poppler-utils)")
	}
	paper := filepath.Join(t.TempDir(), "page.pdf")
	must.Do(os.WriteFile(paper, printed, 0o644))
	text := must.Get(exec.Command(program, "-layout", paper, "-").Output())
	if n := bytes.Count(text, []byte("Statement of the rules")); n != 1 {
		t.Errorf("the statement of the rules is printed for %d of %d runs", n, len(r.Runs))
	}
}

// point moves the pointer to the middle of an element, and clicks there.
func (b *browser) point(element string, click bool) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	place := b.ask(`(() => { const e = ` + element + `; e.scrollIntoView({block: 'center'});
		const r = e.getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}) })()`)
	if err := json.Unmarshal([]byte(place), &at); err != nil {
		b.t.Fatalf("%s: %s", element, place)
	}
	events := []string{"mouseMoved"}
	if click {
		events = append(events, "mousePressed", "mouseReleased")
	}
	for _, event := range events {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": event, "x": at.X, "y": at.Y, "button": "left",
			"clickCount": 1})
	}
}

// With its script a page sorts tables, hides series and shows the root behind a point; without it the same texts are
// there, and nothing pretends to be a button.
func TestScriptOfThePageInABrowser(t *testing.T) {
	b := openBrowser(t)
	result := samples.Result([]string{"cpu", "distributed"}, 16, 17)
	path := write(t, page(result))
	want := func(what, expression, want string) {
		t.Helper()
		must.Equal(t, b.ask(expression), want, what, expression)
	}
	b.show(path, 1280, "light")

	root := result.Runs[0].Roots[0]
	mine := fmt.Sprintf("root %d, search 0: ", root.Root)
	b.point(`[...document.querySelectorAll('g[data-text^="`+mine+`"]')][0]`, false)
	if tip := b.ask("document.querySelector('#tip:not([hidden])').textContent"); !strings.HasPrefix(tip, mine) {
		t.Errorf("the text at a point is %q, want %q and its rate", tip, mine)
	}
	b.point("document.querySelector('h1')", false)
	want("the pointer has left", "document.querySelector('#tip').hidden", "true")

	const boxes = `[...document.querySelector('figure svg').querySelectorAll('g[data-of="cpu"]')].filter(g =>
		g.getBoundingClientRect().width > 0).length > 0`
	const key = `document.querySelector('figure svg g[data-key="cpu"]')`
	want("a series", boxes, "true")
	b.point(key+".querySelector('text')", true)
	want("a hidden series", boxes, "false")
	want("its name", key+".getAttribute('aria-pressed')", "false")
	b.point(key+".querySelector('text')", true)
	want("the series again", boxes, "true")

	const column = `[...[...document.querySelectorAll('.roots table')][0].tBodies[0].rows].map(r =>
		parseFloat(r.cells[3].textContent))`
	b.ask("[...document.querySelectorAll('details')].forEach(d => d.open = true)")
	for _, order := range []string{"a - b", "b - a"} {
		b.point("document.querySelector('.roots table').tHead.rows[0].cells[3]", true)
		want("rates after a click on their head, "+order, column+".join()",
			b.ask(column+".sort((a, b) => "+order+").join()"))
	}
	const times = "[...document.querySelectorAll('.roots table')][0].tHead.rows[0].cells[2].textContent"
	want("the column that has units", times, "time")

	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.show(path, 1280, "light")
	want("buttons without a script", "document.querySelectorAll('[tabindex=\"0\"]:not(.scroll, .drawing)').length", "0")
	want("the text of a point", `[...document.querySelectorAll('g[data-of] > title')].some(e =>
		e.textContent.startsWith("`+mine+`"))`, "true")
}

// Rows are compared with the engine that a reader chooses, on the same graph only, and only where that means something.
func TestComparingRowsInABrowser(t *testing.T) {
	b := openBrowser(t)
	results := samples.Store(1, 1, 1.5)
	results[0].Runs = append(results[0].Runs, samples.Run("cpu", 0, 17, 64)) // on a graph that the other record lacks
	b.show(write(t, page(results...)), 390, "dark")
	const rows = "[...document.querySelectorAll('tr[data-ratios]')]"
	ratio := func(engine string) string {
		return b.ask(rows + ".filter(r => r.dataset.engine === '" + engine + "' && r.dataset.graph === '18').map(r => " +
			"[...r.querySelectorAll('.ratio')].map(s => s.className + ': ' + s.textContent).join('; '))[0]")
	}
	choose := func(engine string) {
		b.ask("(() => { const s = document.querySelector('.base select'); s.value = '" + engine +
			"'; s.dispatchEvent(new Event('change')) })()")
	}
	choose("cpu [1]")
	for engine, want := range map[string]string{
		"cpu [1]":    "^ratio : base$",
		"cpu [2]":    `^ratio good: ▲ 1\.(4|5)\d\d \*; ratio note: 1\.\d+ to 1\.\d+$`,
		"serial [2]": "^ratio : not comparable$", // it has searched from other roots
	} {
		if got := ratio(engine); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s against cpu [1]: %q, want %s", engine, got, want)
		}
	}
	if got := b.ask("document.querySelector('.ratio[title*=teps]').title"); !strings.Contains(got, "also differs: teps") {
		t.Errorf("what else differs is %q, want the build of teps", got)
	}
	got := b.ask("[...document.querySelectorAll('article td.quotient .ratio')].map(s => s.textContent).join()")
	if !strings.HasPrefix(got, "× 0.66") || !strings.HasSuffix(got, ",× 1") {
		t.Errorf("the quotients of median times and kernel 1 are %q", got)
	}
	must.Equal(t, b.ask("document.documentElement.scrollWidth"), "390", "the width with ratios")
	rates := b.ask("document.querySelector('tr[data-ratios] td.compared').firstChild.textContent")
	b.photograph("page-compared-390-dark.png", 390)
	choose("[1]") // each engine with itself in the first record
	if a, b := ratio("cpu [2]"), ratio("serial [2]"); !strings.HasPrefix(a, "ratio good: ▲ 1.") ||
		!strings.HasPrefix(b, "ratio : = 1") {
		t.Errorf("against the first record cpu is %q and serial %q", a, b)
	}
	choose("cpu [2]")
	if got := ratio("cpu [1]"); !regexp.MustCompile(`^ratio bad: ▼ 0\.6\d\d \*; ratio note: 0\.6`).MatchString(got) {
		t.Errorf("cpu [1] against cpu [2]: %q", got)
	}
	b.ask("document.querySelectorAll('thead th').forEach(th => th.textContent === 'harmonic mean' && th.click())")
	if got := b.ask("document.querySelector('tr[data-ratios] td.compared').firstChild.textContent"); got >= rates {
		t.Errorf("with ratios the table is not sorted by rate: %s is first", got)
	}
	// A link with the fragment of the address shows the same.
	if got := b.ask("location.hash"); !strings.HasPrefix(got, "#compare=cpu+%5B2%5D&sort=0.2") {
		t.Errorf("the address ends in %q", got)
	}
	first := b.ask("document.querySelector('tr[data-ratios] td.compared').textContent")
	b.call("Page.reload", nil)
	for b.read().Method != "Page.loadEventFired" {
	}
	if got := b.ask("document.querySelector('tr[data-ratios] td.compared').textContent"); got != first {
		t.Errorf("after a reload the first row has %q, want %q", got, first)
	}
	choose("")
	must.Equal(t, b.ask("document.querySelectorAll('.ratio').length"), "0", "ratios that are left")
}

// A page of two machines shows a chart in the first screen, uses both halves of it, is whole on a phone but for long
// tables, and six rows of it take three pages.
func TestPageOfTwoMachinesInABrowser(t *testing.T) {
	b := openBrowser(t)
	engines := []string{"cpu", "distributed-2d", "distributed-1d-dest"}
	one, other := samples.Result(engines, 18), samples.Result(engines, 18)
	other.ID, other.Machine.Hostname = "other", "node18"
	path := write(t, page(one, other))
	b.show(path, 1280, "light")
	const figures = "[...document.querySelectorAll('figure')].slice(0, 2).map(e => e.getBoundingClientRect())"
	if got := b.ask(figures + ".every(r => r.top < 500 && r.width > 500)"); got != "true" {
		t.Errorf("the first charts are at %s", b.ask("JSON.stringify("+figures+")"))
	}
	b.show(path, 390, "light")
	const cut = "[...document.querySelectorAll('.drawing')].filter(e => e.scrollWidth > e.clientWidth).length"
	must.Equal(t, b.ask(cut), "0", "charts that are cut")
	must.Equal(t, b.ask(textsOutside), "", "texts outside their drawings")
	for _, r := range []record.Result{one, other} {
		for i, run := range r.Runs {
			run.GraphID = record.GraphID{Source: []string{"grid2d:300", "uniform:1M:16M", "roads.mtx"}[i]}
			r.Runs[i] = samples.WithMeters(samples.WithRanks(run, 4, "1d"), power.Package, power.DRAM, power.Node)
		}
		b.show(write(t, page(one, other)), 1280, "light")
		printed, err := base64.StdEncoding.DecodeString(b.call("Page.printToPDF", nil)["data"].(string))
		if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(printed, -1)); err != nil || n < 1 || n > 3 {
			t.Errorf("six rows take %d pages (%v)", n, err)
		}
	}
}
