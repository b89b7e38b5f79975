// SPDX-License-Identifier: Apache-2.0

package files

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// Collections publish a graph as an archive: SuiteSparse as NAME.tar.gz with NAME/NAME.mtx and matrices that belong to
// it, LDBC Graphalytics as NAME.tar.zst with NAME.v, NAME.e and NAME.properties, Network Repository as NAME.zip with
// NAME.mtx or NAME.edges and a page, KONECT as NAME.tar.bz2 with NAME/out.NAME and its description.

// archive is the error of reading an archive without Options.member.
type archive struct {
	path    string   // empty: a stream
	members []string // the files in it; a graph may have several
}

// Error suggests the file with the shortest name, because files that belong to a graph have longer names.
func (a *archive) Error() string {
	name := "FILE"
	for _, m := range a.members {
		if formatOfName(m) != "" && !strings.HasPrefix(strings.ToLower(path.Base(m)), "readme") && extension(m) != ".v" &&
			(name == "FILE" || len(m) < len(name)) {
			name = m
		}
	}
	if a.path == "" {
		return "an archive: unpack it"
	}
	return "an archive: unpack it, or name the graph in it as " + a.path + "/" + name
}

// SplitArchive splits ARCHIVE/FILE where the archive is a regular file. Otherwise member is empty.
func SplitArchive(name string) (file, member string) {
	if _, err := os.Stat(name); err == nil {
		return name, ""
	}
	whole := filepath.Clean(name)
	for file = whole; file != filepath.Dir(file); file = filepath.Dir(file) {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, clean(whole[len(file):])
		}
	}
	return name, ""
}

// clean returns the name of a file in an archive, which may be written as ./FILE or /FILE.
func clean(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// place is where the files of a graph are: the file system, or an archive in it.
type place struct {
	path    string // of the archive; empty: the file system
	members []string
}

func (p place) load(ctx context.Context, name string, o Options, read func(in *input) error) (*Graph, error) {
	if p.path != "" {
		name, o.member = p.path, name
	}
	return loadFile(ctx, name, o, read)
}

// enterArchive replaces in.r by a reader of the member, if it reads an archive. Without a member, the error is an
// archive. File is the file as stored.
func (in *input) enterArchive(file io.Reader, member string) error {
	head, err := in.r.Peek(512)
	if len(head) == 0 && err != io.EOF {
		return in.readError(err)
	}
	for magic, by := range map[string]string{"7z\xbc\xaf": "7-Zip", "Rar!": "RAR", "\x04\"M\x18": "lz4", "LZIP": "lzip",
		"\x1f\x9d": "compress", "]\x00\x00": "lzma"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return fmt.Errorf("packed by %s, which teps cannot unpack: unpack it", by)
		}
	}
	switch at, ok := file.(io.ReaderAt); {
	case len(head) == 512 && bytes.HasPrefix(head[257:], []byte("ustar")):
		return in.enterTar(member)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) && ok && in.content > 0:
		return in.enterZip(at, member)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return new(archive)
	case member != "":
		return noMember(member)
	}
	return nil
}

func noMember(name string) error { return fmt.Errorf("not an archive that has the file %q", name) }

func (in *input) enterTar(member string) error {
	var all archive
	in.around = in.r
	for files := tar.NewReader(in.r); ; {
		header, err := files.Next()
		switch {
		case err == io.EOF && member == "":
			return &all
		case err == io.EOF:
			return noMember(member)
		case err != nil:
			return in.readError(fmt.Errorf("tar: %w", err))
		case header.Typeflag == tar.TypeReg && member == "" && len(all.members) < maxMembers && printable(header.Name):
			all.members = append(all.members, clean(header.Name))
		case header.Typeflag == tar.TypeReg && clean(header.Name) == member:
			in.content, in.r = header.Size, bufio.NewReaderSize(&whole{r: files}, bufferBytes)
			return nil
		}
	}
}

const maxMembers = 10_000 // that are kept in memory

func (in *input) enterZip(file io.ReaderAt, member string) error {
	files, err := zip.NewReader(file, in.content)
	if err != nil {
		return decompression("zip", err)
	}
	var all archive
	for _, f := range files.File {
		switch {
		case member == "" && printable(f.Name):
			all.members = append(all.members, clean(f.Name))
		case clean(f.Name) == member && f.Flags&1 != 0:
			return errors.New("zip: the file is encrypted")
		case clean(f.Name) == member:
			r, err := f.Open()
			if err != nil {
				return decompression("zip", err)
			}
			in.info.Compression, in.content = "zip", int64(f.UncompressedSize64)
			in.r = bufio.NewReaderSize(&whole{r: r}, bufferBytes)
			return nil
		}
	}
	if member != "" {
		return noMember(member)
	}
	return &all
}

// printable reports whether a name can be part of an error.
func printable(name string) bool { return strings.IndexFunc(name, unicode.IsControl) < 0 }
