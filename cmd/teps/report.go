package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tepsbench/teps/harness"
	"github.com/tepsbench/teps/reports"
)

func reportCommand() *cobra.Command {
	var (
		out   string
		quiet bool
	)
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Draw runs again from their records",
		Long: `report reads the records of one run or several and makes everything that is drawn
from them: official text (to standard output), plots, tables and the page. A run's
own files go into its folder; several runs also share one page, at --out.`,
		Example: `  teps report results/a
  teps report results/a results/b --out both.html`,
		RunE: func(c *cobra.Command, dirs []string) error {
			if len(dirs) == 0 {
				return harness.Usage("teps report needs the folder of at least one run")
			}
			if out != "" {
				if err := checkTarget(out); err != nil {
					return err
				}
			}
			if len(dirs) > 1 && out == "" {
				return harness.Usage("several runs share a page: name its file with --out")
			}
			var all []harness.Result
			for _, dir := range dirs {
				r, err := harness.Load(dir)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			for i, dir := range dirs {
				if err := report(c, dir, all[i], quiet); err != nil {
					return err
				}
			}
			if out == "" {
				return nil
			}
			return writePage(c, out, all)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file for the page of all runs together")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no final table")
	return c
}

func writePage(c *cobra.Command, out string, all []harness.Result) error {
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := reports.HTML(&page, all...); err != nil {
		return err
	}
	if err := harness.WriteFile(out, page.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "page: %s\n", out)
	return nil
}
