package main

import (
	"fmt"
	"io"
)

// printer prints until something goes wrong, and keeps that error: a full disk behind standard output must not look
// like success.
type printer struct {
	w   io.Writer
	err error
}

func newPrinter(w io.Writer) *printer { return &printer{w: w} }

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
