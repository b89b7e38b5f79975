// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/internal/regular"
	"github.com/tepsbench/teps/record"
	"github.com/tepsbench/teps/reports"
	"github.com/tepsbench/teps/reports/formats"
	"github.com/tepsbench/teps/reports/parts"
	"github.com/tepsbench/teps/reports/plot"
	"github.com/tepsbench/teps/reports/text"
)

type reportFlags struct {
	out, format, picture string
	reference            []string
}

func reportCommand() *cobra.Command {
	var f reportFlags
	list := each(formats.All(), func(f reports.Format) string { return fmt.Sprintf("  %-12s%s", f.Name, f.Summary) })
	c := &cobra.Command{
		Use:   "report DIR|STORE...",
		Short: "Draw runs again from their records",
		Long: `report reads the records of runs and draws everything again: plots, tables and
the page go into each run's directory, the official text to standard output
unless that is a terminal (--format graph500 writes it there, too).
A directory of runs stands for all of them; as the only argument it gets the
plots and the page of all its runs. With --out it writes one page of all runs
instead. With --format it writes one text, to standard output or --out:

` + strings.Join(list, "\n") + `

With --picture it writes one figure instead, to the file at --out (.svg, .png,
.pdf) or as SVG into the working directory. --reference shows published results
next to the measured ones, in gray; docs/reports.md lists them.`,
		Example: `  teps report results/a
  teps report results/a results/b --out both.html
  teps report results/a --format csv --out searches.csv
  teps report results/a --picture gteps-over-scale --out rates.pdf
  teps report results/a --reference kolganov-2018,bisson-2014`,
		RunE: f.run,
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "file for one page of all runs, for --format or for --picture")
	c.Flags().StringVarP(&f.format, "format", "f", "", "write one text in this format")
	c.Flags().StringVar(&f.picture, "picture", "",
		"write one figure, by the name of its file (gteps-over-scale, roots, history, ...)")
	c.Flags().StringSliceVar(&f.reference, "reference", nil,
		"show published results: names, or all; kolganov-2018:P100 for one system")
	return c
}

func (f *reportFlags) run(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usage("teps report takes the directory of at least one run; see teps report --help")
	case f.format != "" && f.picture != "":
		return usage("--format and --picture each write one thing; give one of them")
	case f.out == "-":
		return usage("--out -: to write to standard output, leave out --out and give --format")
	case f.picture == "" && slices.Contains([]string{".svg", ".png", ".pdf"}, strings.ToLower(filepath.Ext(f.out))):
		return usage("--out %s: only a figure goes into such a file; name it with --picture", f.out)
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
	check := checkTarget
	if f.picture != "" {
		check = checkFigure
	}
	if err := check("--out", f.out); err != nil {
		return err
	}
	all, err := loadRuns(args)
	if err != nil {
		return err
	}
	report, err := reports.New(references, all...)
	switch {
	case err != nil:
		return err
	case f.picture != "":
		figure, err := parts.Figure(report, f.picture)
		if err != nil {
			return usage("--picture: %w", err)
		}
		return writeFigure(c, cmp.Or(f.out, f.picture+".svg"), figure)
	case f.format != "" || f.out != "":
		return f.writeFormat(c, format, report)
	case len(all) == 1:
		return show(c, all[0].Directory, references, all[0], false)
	case len(args) > 1:
		return usage("several runs share a page; name its file with --out")
	}
	if err = text.Tables(c.OutOrStdout(), report, terminalWidth(c.OutOrStdout())); err == nil {
		err = formats.WriteAll(args[0], report)
	}
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "\nplots and page of %d runs: %s\n", len(all),
			printable(filepath.Join(args[0], "report.html")))
	}
	return err
}

// loadRuns reads runs. It replaces directories of runs by their runs.
func loadRuns(args []string) (all []record.Result, err error) {
	for _, arg := range args {
		runs := []string{arg}
		if _, err := os.Stat(filepath.Join(arg, record.ManifestFile)); err != nil {
			if found, err := record.Runs(arg); err == nil && len(found) > 0 {
				runs = found
			}
		}
		for _, dir := range runs {
			r, err := record.Load(dir)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// show prints the official text unless standard output is a terminal, draws the run into its directory, and ends with a
// table on standard error. The text comes first, because the disk may be full. If quiet is set, show prints only what
// is wrong with the run.
func show(c *cobra.Command, dir string, references []reports.Reference, result record.Result, quiet bool) error {
	report, err := reports.New(references, result)
	if err != nil {
		return err
	}
	onTerminal := terminalWidth(c.OutOrStdout()) > 0
	if !quiet && !onTerminal {
		if err := text.Graph500(c.OutOrStdout(), report.Results[0]); err != nil {
			return err
		}
	}
	if err := formats.WriteAll(dir, report); err != nil {
		return fmt.Errorf("%w; draw the page elsewhere with: teps report %s --format html --out FILE", err, dir)
	}
	w := c.ErrOrStderr()
	if quiet {
		for _, run := range report.Results[0].Runs {
			say := func(what, why string) {
				fmt.Fprintf(w, "teps: %s %s: %s: %s\n", run.Label, printable(run.AtGraph()), what, printable(why))
			}
			if v := run.Verdict(); v.Grade >= reports.Bad {
				say(v.Word, v.Why)
			}
			if run.Energy == nil {
				continue
			}
			if run.Energy.Failed() {
				say("energy not measured", run.Energy.Failure)
			}
			for _, lost := range run.Energy.Lost() {
				if !strings.Contains(run.Energy.Failure, lost.Source) {
					say("a meter is lost, so sums with it have no figure", lost.Source+": "+lost.Reason)
				}
			}
		}
		return nil
	}
	columns := max(terminalWidth(w)-4, 76)
	fmt.Fprintln(w)
	_ = text.Columns(w, report.Results[0].RunTable(false), terminalWidth(w)) // standard error may be closed
	if disturbed := reports.Disturbance(report.All...); disturbed != "" {
		fmt.Fprintf(w, "\n%s\n", text.Wrap(disturbed, columns, ""))
	}
	for i, line := range text.Engines(result) {
		if i == 0 {
			fmt.Fprintf(w, "\nOn a typical root:\n")
		}
		fmt.Fprintf(w, "  %s\n", text.Wrap(line, columns, "    "))
	}
	last := map[bool]string{true: "official text, "}[onTerminal] + "records, plots and page: " +
		filepath.Join(dir, "report.html")
	if utf8.RuneCountInString(last) > columns+4 { // an uncut path can be copied
		last = strings.Replace(last, ": ", ":\n", 1)
	}
	fmt.Fprintf(w, "\n%s\n", printable(last))
	return nil
}

// writeFigure draws a figure into a file.
func writeFigure(c *cobra.Command, path string, figure reports.Figure) error {
	err := plot.New().Write(path, figure)
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", printable(path))
	}
	return err
}

// writeFormat writes one text to the file at --out, or to standard output.
func (f *reportFlags) writeFormat(c *cobra.Command, format reports.Format, report reports.Report) error {
	switch w := c.OutOrStdout(); {
	case f.out == "" && format.Name == "text": // fitted to the terminal
		return text.Tables(w, report, terminalWidth(w))
	case f.out == "":
		return format.Write(w, report)
	}
	var b bytes.Buffer
	err := format.Write(&b, report)
	if err == nil {
		err = record.WriteFile(f.out, b.Bytes())
	}
	if err == nil {
		fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", printable(f.out))
	}
	return err
}

// checkFigure is checkTarget for a figure.
func checkFigure(flag, path string) error {
	err := checkTarget(flag, path)
	extension := strings.ToLower(filepath.Ext(path))
	if path != "" && err == nil && !slices.Contains([]string{".svg", ".png", ".pdf"}, extension) {
		err = usage("%s %s: %w", flag, path, plot.ErrExtension)
	}
	return err
}

// checkTarget makes the directory of the file of a flag. It returns an error for a path that must not be overwritten.
// Links are followed.
func checkTarget(flag, path string) error {
	target := regular.Target(path)
	info, err := os.Stat(target)
	switch {
	case path == "":
		return nil
	case slices.Contains([]string{record.ManifestFile, record.JournalFile, record.ResultFile}, filepath.Base(target)):
		return usage("%s %s would replace part of a record; choose another name", flag, path)
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular():
		err = os.MkdirAll(filepath.Dir(target), 0o777)
	case err == nil && info.IsDir():
		return usage("%s %s is a directory; name a file in it", flag, path)
	case err == nil:
		return usage("%s %s is not a regular file; write to standard output and redirect that", flag, path)
	}
	if err != nil {
		err = usage("%s %s: %w", flag, path, err)
	}
	return err
}
