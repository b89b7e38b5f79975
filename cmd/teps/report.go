package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/formats"
	"github.com/tepsbench/teps/reports/plot"
	"github.com/tepsbench/teps/reports/text"
)

type reportFlags struct {
	out, format, picture string
	reference            []string
}

func reportCommand() *cobra.Command {
	var f reportFlags
	var names []string
	var list strings.Builder
	for _, format := range formats.All() {
		names = append(names, format.Name)
		fmt.Fprintf(&list, "  %-12s%s\n", format.Name, format.Summary)
	}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Draw runs again from their records",
		Long: `report reads the records of runs and draws everything again: plots, tables and the
page go into each run's directory, the official text to standard output. With --out,
several runs share one page.

With --format it writes one text instead, to standard output or --out:
` + list.String() + `
With --picture it writes one figure instead, to the file at --out (.svg, .png, .pdf)
or as SVG into the working directory. --reference shows published results next to the
measured ones, in grey; docs/reports.md lists them.`,
		Example: `  teps report results/a
  teps report results/a results/b --out both.html
  teps report results/a --format markdown
  teps report results/a --format submission --out graph500-submission.txt
  teps report results/a --picture gteps-over-scale --out rates.pdf
  teps report results/a --reference kolganov-2018,bisson-2014`,
		RunE: f.run,
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "file for the shared page, for --format or for --picture")
	c.Flags().StringVarP(&f.format, "format", "f", "", "write one text: "+strings.Join(names, ", "))
	c.Flags().StringVar(&f.picture, "picture", "",
		"write one figure, by the name of its file (gteps-over-scale, roots, kernel-1, ...)")
	c.Flags().StringSliceVar(&f.reference, "reference", nil, "show published results: names, or all")
	return c
}

// check refuses flags that do not go together.
func (f *reportFlags) check(dirs []string) error {
	switch {
	case len(dirs) == 0:
		return usage("teps report takes the directory of at least one run; see teps report --help")
	case f.format != "" && f.picture != "":
		return usage("--format and --picture each write one thing; give one of them")
	case len(dirs) > 1 && f.out == "" && f.format == "" && f.picture == "":
		return usage("several runs share a page; name its file with --out")
	case f.out != "":
		return checkTarget(f.out)
	}
	return nil
}

func (f *reportFlags) run(c *cobra.Command, dirs []string) error {
	if err := f.check(dirs); err != nil {
		return err
	}
	references, err := reports.References(f.reference...)
	if err != nil {
		return usage("--reference: %w", err)
	}
	format, err := formats.ByName(formats.All(), cmp.Or(f.format, "html"))
	if err != nil {
		return usage("--format: %w", err)
	}
	if len(references) > 0 && !format.References {
		return usage("the format %s shows no published results; leave out --reference, or use html or markdown", format.Name)
	}
	all, err := loadAll(dirs)
	if err != nil {
		return err
	}
	together, err := reports.New(references, all...)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.out), 0o777); err != nil {
		return err
	}
	switch {
	case f.picture != "":
		return f.writePicture(c, together)
	case f.format != "":
		return f.writeFormat(c, format, together)
	}
	for i, dir := range dirs {
		report, err := reports.New(references, all[i])
		if err != nil {
			return err
		}
		printing := text.Graph500(c.OutOrStdout(), report.Results[0])
		if err := errors.Join(printing, draw(dir, report)); err != nil {
			return err
		}
		printTable(c.ErrOrStderr(), dir, report)
	}
	if f.out == "" {
		return nil
	}
	return f.writeFormat(c, format, together)
}

func loadAll(dirs []string) (all []record.Result, err error) {
	for _, dir := range dirs {
		r, err := record.Load(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// writePicture writes one figure to the file at --out.
func (f *reportFlags) writePicture(c *cobra.Command, report reports.Report) error {
	figure, err := report.Figure(f.picture)
	if err != nil {
		return usage("--picture: %w", err)
	}
	out := cmp.Or(f.out, f.picture+".svg")
	plotter, err := plot.New()
	if err != nil {
		return err
	}
	if err := plotter.Write(out, figure); errors.Is(err, plot.ErrExtension) {
		return usage("--out: %w", err)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", out)
	return nil
}

// writeFormat writes one text to the file at --out, or to standard output.
func (f *reportFlags) writeFormat(c *cobra.Command, format reports.Format, report reports.Report) error {
	if f.out == "" {
		return format.Write(c.OutOrStdout(), report)
	}
	var b bytes.Buffer
	if err := format.Write(&b, report); err != nil {
		return err
	}
	if err := record.WriteFile(f.out, b.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", f.out)
	return nil
}

// draw writes every rendering of a run into its directory. It comes after the official text, which a full disk must not
// lose.
func draw(dir string, report reports.Report) error {
	if err := formats.WriteAll(dir, report); err != nil {
		return fmt.Errorf("%w; draw the page elsewhere with: teps report %s --format html --out FILE", err, dir)
	}
	return nil
}

// printTable ends a run on standard error.
func printTable(w io.Writer, dir string, report reports.Report) {
	fmt.Fprintln(w)
	_ = text.Table(w, report.Results[0], takesColour(w)) // nobody may be reading
	fmt.Fprintf(w, "\nrecords, plots and page: %s\n", filepath.Join(dir, "report.html"))
}

// checkTarget refuses a path at which no file can be put in place of what is there.
func checkTarget(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil // creating the file reports what else is wrong with the path
	case info.IsDir():
		return usage("--out %s is a directory; name a file in it", path)
	}
	return usage("--out %s is not a regular file; write to standard output and redirect that", path)
}
