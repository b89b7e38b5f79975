package record

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRunsFindsNestedDirectories(t *testing.T) {
	store := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(store, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("b/run.json", "{}")
	put("a/deep/er/run.json", "{}")
	put("a/deep/er/inside/run.json", "{}") // in the directory of another run
	put("lost/roots.jsonl", "{}\n")        // its run.json is missing
	put("begun/roots.jsonl", "")           // killed at its start
	put("other/result.txt", "")
	put(".discarded/run.json", "{}")
	folders, err := Runs(store)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a/deep/er", "a/deep/er/inside", "b", "lost"}
	for i := range want {
		want[i] = filepath.Join(store, filepath.FromSlash(want[i]))
	}
	if !slices.Equal(folders, want) {
		t.Errorf("found %q\nwant %q", folders, want)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(store, link); err != nil {
		t.Skip(err)
	}
	if linked, err := Runs(link); err != nil || len(linked) != len(want) ||
		linked[0] != filepath.Join(link, "a", "deep", "er") {
		t.Errorf("behind a link: %q, %v", linked, err)
	}
	if one, err := Runs(want[2]); err != nil || !slices.Equal(one, want[2:3]) {
		t.Errorf("the directory of a run: %q, %v", one, err)
	}
	for _, no := range []string{"missing", "b/run.json"} {
		if _, err := Runs(filepath.Join(store, no)); !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v, want ErrUsage", no, err)
		}
	}
}
