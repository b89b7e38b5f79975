package reports

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/tepsbench/teps/harness"
)

// WriteAll writes every rendering of r that is a file into dir, which must exist: graph500.txt, the figures and
// report.html, and greengraph500.txt where an energy loop was metered. Each file appears whole or not at all, and
// replaces one that is there. The error wraps that of the file system and names the file; files before it stay.
func (o Options) WriteAll(dir string, r harness.Result) error {
	var text, page bytes.Buffer
	if err := Text(&text, r); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "graph500.txt"), text.Bytes()); err != nil {
		return err
	}
	if _, err := o.WritePlots(dir, r); err != nil {
		return err
	}
	if err := writeGreen(dir, r); err != nil {
		return err
	}
	if err := o.HTML(&page, r); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "report.html"), page.Bytes())
}

// WriteAll is Options.WriteAll with the records alone.
func WriteAll(dir string, r harness.Result) error { return Options{}.WriteAll(dir, r) }

// WritePlots draws the figures of results into dir, each as SVG, as PNG (300 dots an inch; fewer where a
// figure is very tall) and as PDF, 6.8 inches wide (rates of up to four engines at one scale: 4.4), and returns their paths. Results without rates and levels have none. Each file appears whole or not at all; the error
// wraps those of the file system and names the files that are not there.
func (o Options) WritePlots(dir string, results ...harness.Result) ([]string, error) {
	p, err := newPen()
	if err != nil {
		return nil, err
	}
	all := p.draw(labels(results...), o.References).all()
	var paths []string
	for _, f := range all {
		for _, extension := range forms() {
			paths = append(paths, filepath.Join(dir, f.name+extension))
		}
	}
	// Most of the time goes to packing PNGs, each on one processor, so figures are written side by side. One figure stays
	// with one worker: a plot that is drawn settles its axes.
	failed := make([]error, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		workers.Go(func() {
			for i := range next {
				for _, extension := range forms() {
					failed[i] = errors.Join(failed[i], writeFigure(filepath.Join(dir, all[i].name+extension), all[i]))
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	return paths, errors.Join(failed...)
}

// forms are the extensions of the files that each figure is written as.
func forms() []string { return []string{".svg", ".png", ".pdf"} }

// Picture draws the one figure of that name of results, as SVG, PNG or PDF by the extension of path. The error is one
// of usage and names the figures that there are, or wraps that of the file system.
func (o Options) Picture(path, name string, results ...harness.Result) error {
	p, err := newPen()
	if err != nil {
		return err
	}
	var names []string
	for _, f := range p.draw(labels(results...), o.References).all() {
		if f.name == name {
			return writeFigure(path, f)
		}
		names = append(names, f.name)
	}
	if len(names) == 0 {
		return harness.Usage("there is no picture %q: the records hold nothing to draw", name)
	}
	return harness.Usage("there is no picture %q; these records have %s", name, strings.Join(names, ", "))
}

// writeFigure writes f in the form that the extension of path names.
func writeFigure(path string, f *figure) error {
	var draw func() ([]byte, error)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		draw = f.svg
	case ".png":
		draw = f.png
	case ".pdf":
		draw = f.pdf
	default:
		return harness.Usage("%s: a picture is an .svg, a .png or a .pdf file", path)
	}
	data, err := draw()
	if err != nil {
		return err
	}
	return writeFile(path, data)
}

// writeFile is harness.WriteFile with what a user can do about its errors.
func writeFile(path string, data []byte) error {
	if err := harness.WriteFile(path, data); err != nil {
		return fmt.Errorf("reports: %w (is the folder there, writable and not full?)", err)
	}
	return nil
}
