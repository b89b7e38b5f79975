package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
)

// reporting is what the flags of teps report ask for.
type reporting struct {
	out       string
	format    string
	picture   string
	reference []string
	quiet     bool
}

func reportCommand() *cobra.Command {
	var r reporting
	var formats strings.Builder
	for _, f := range reports.Formats() {
		fmt.Fprintf(&formats, "  %-12s%s\n", f.Name, f.Says)
	}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Draw runs again from their records",
		Long: `report reads the records of one run or several and makes everything that is drawn
from them: official text (to standard output), plots, tables and the page. A run's
own files go into its folder; several runs also share one page, at --out.

With --format it writes one text instead, to standard output or --out:
` + formats.String() + `
With --picture it writes one figure instead, to the file at --out (.svg, .png, .pdf)
or as SVG into the working folder. --reference shows published results beside the
measured ones, in grey; "--reference list" says which there are.`,
		Example: `  teps report results/a
  teps report results/a results/b --out both.html
  teps report results/a --format markdown
  teps report results/a --format submission --out graph500-submission.txt
  teps report results/a --picture gteps-over-scale --out rates.pdf
  teps report results/a --reference kolganov-2018,bisson-2014`,
		RunE: func(c *cobra.Command, dirs []string) error { return r.run(c, dirs) },
	}
	c.Flags().StringVarP(&r.out, "out", "o", "", "file for the page of all runs together, for --format or for --picture")
	c.Flags().StringVarP(&r.format, "format", "f", "", "write one text: "+strings.Join(formatNames(), ", "))
	c.Flags().StringVar(&r.picture, "picture", "", "write one figure, by the name of its file (gteps-over-scale, roots, kernel-1, ...)")
	c.Flags().StringSliceVar(&r.reference, "reference", nil, "show published results: names, all, or list")
	c.Flags().BoolVarP(&r.quiet, "quiet", "q", false, "no final table")
	return c
}

func formatNames() (names []string) {
	for _, f := range reports.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func (r reporting) run(c *cobra.Command, dirs []string) error {
	if len(r.reference) == 1 && r.reference[0] == "list" {
		return listReferences(c)
	}
	references, err := reports.References(r.reference...)
	if err != nil {
		return harness.Usage("--reference: %v", err)
	}
	options := reports.Options{References: references}
	switch {
	case len(dirs) == 0:
		return harness.Usage("teps report needs the folder of at least one run")
	case r.format != "" && r.picture != "":
		return harness.Usage("--format and --picture each write one thing: give one of them")
	case r.picture != "" && r.out == "":
		r.out = r.picture + ".svg"
	}
	if r.out != "" {
		if err := checkTarget(r.out); err != nil {
			return err
		}
	}
	if len(dirs) > 1 && r.out == "" && r.format == "" {
		return harness.Usage("several runs share a page: name its file with --out")
	}
	var format reports.Format
	if r.format != "" {
		if format, err = reports.FormatByName(r.format); err != nil {
			return harness.Usage("--format: %v", err)
		}
		if len(references) > 0 && !format.References {
			return harness.Usage("the format %s shows no published results: leave --reference away, or ask for html or markdown", format.Name)
		}
	}
	var all []harness.Result
	for _, dir := range dirs {
		result, err := harness.Load(dir)
		if err != nil {
			return err
		}
		all = append(all, result)
	}
	switch {
	case r.picture != "":
		if err := os.MkdirAll(filepath.Dir(r.out), 0o777); err != nil {
			return err
		}
		if err := options.Picture(r.out, r.picture, all...); err != nil {
			return err
		}
		fmt.Fprintf(c.ErrOrStderr(), "written: %s\n", r.out)
		return nil
	case r.format != "":
		return writeFormat(c, r.out, format, options, all)
	}
	for i, dir := range dirs {
		if err := reportWith(c, dir, options, all[i], r.quiet); err != nil {
			return err
		}
	}
	if r.out == "" {
		return nil
	}
	page, err := reports.FormatByName("html")
	if err != nil {
		return err
	}
	return writeFormat(c, r.out, page, options, all)
}

// writeFormat writes one text to a file, or to standard output without one.
func writeFormat(c *cobra.Command, out string, format reports.Format, options reports.Options, all []harness.Result) error {
	var text bytes.Buffer
	if err := format.Write(options, &text, all...); err != nil {
		return err
	}
	if out == "" {
		_, err := c.OutOrStdout().Write(text.Bytes())
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	if err := harness.WriteFile(out, text.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "written: %s\n", out)
	return nil
}

// listReferences says which published results there are, and how they count.
func listReferences(c *cobra.Command) error {
	all, err := reports.References("all")
	if err != nil {
		return err
	}
	for _, r := range all {
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%s (%s, %d numbers)\n  %s\n  Counting: %s\n", r.Name, r.Date, len(r.Rows), r.Source, r.Counting); err != nil {
			return err
		}
	}
	return nil
}

// reportWith writes every rendering of a run into its folder, the official text to standard output and the final table
// to standard error.
func reportWith(c *cobra.Command, dir string, options reports.Options, result harness.Result, quiet bool) error {
	if err := options.WriteAll(dir, result); err != nil {
		return err
	}
	if err := reports.Text(c.OutOrStdout(), result); err != nil {
		return err
	}
	if quiet {
		return nil
	}
	stderr := c.ErrOrStderr() // whether anybody reads it does not matter to the run
	fmt.Fprintln(stderr)
	_ = reports.Table(stderr, result, takesColour(stderr))
	fmt.Fprintf(stderr, "\nrecords, plots and page: %s\n", filepath.Join(dir, "report.html"))
	return nil
}
