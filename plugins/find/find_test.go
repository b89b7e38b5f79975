package find

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files, executable if their names end with a star.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		name, executable := strings.CutSuffix(name, "*")
		mode := os.FileMode(0o666)
		if executable {
			mode = 0o777
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEnginesAreFoundInTheOrderOfThePlaces(t *testing.T) {
	dir := tree(t,
		"a/teps-engine-one*", "a/teps-engine-two.so", "a/teps-engine-", "a/teps-engine-data.json*", "a/other*",
		"b/teps-engine-one*", "b/teps-engine-notes", "b/teps-engine-folder/keep",
		"config/teps/engines/teps-engine-three.so.2", "bin/teps*", "bin/teps-engine-native*", "bin/teps-engine-two*")
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	variable := strings.Join([]string{at("a"), "", at("missing"), at("b"), at("a")}, string(filepath.ListSeparator))
	places := Places(variable, at("config"), at("bin", "teps"))
	var got []string
	for _, e := range Engines(places) {
		relative, _ := filepath.Rel(dir, e.Path)
		line := e.Name + " " + relative
		if e.Place.Listed {
			line += " listed"
		}
		if e.Hidden != "" {
			line += " hidden"
		}
		got = append(got, line)
	}
	want := []string{
		"one a/teps-engine-one listed", "two a/teps-engine-two.so listed", "one b/teps-engine-one listed hidden",
		"three config/teps/engines/teps-engine-three.so.2", "two bin/teps-engine-two hidden",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if e, ok := Named(places, "two"); !ok || e.Path != at("a", "teps-engine-two.so") {
		t.Errorf("two is %+v, %v", e, ok)
	}
	if e, ok := Named(places, "native"); ok {
		t.Errorf("the bridge is no engine, found %+v", e)
	}
	if all := Engines(Places("", "", "")); len(all) > 0 {
		t.Errorf("found %v in no place", all)
	}
}

func TestTrustListIsKept(t *testing.T) {
	dir := tree(t, "engine*", "other*")
	engine, other := filepath.Join(dir, "engine"), filepath.Join(dir, "other")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(engine, link); err != nil {
		t.Fatal(err)
	}
	file := TrustFile(filepath.Join(dir, "config"))
	list, err := ReadTrust(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("ab", 32)
	list.Add(link, sum)
	list.Add(other, sum)
	if err := list.Write(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the list is %v (%v), want it for its owner alone", info.Mode(), err)
	}
	if list, err = ReadTrust(file); err != nil {
		t.Fatal(err)
	}
	if got, listed := list.Sum(engine); got != sum || !listed {
		t.Errorf("the file behind the link: %s, %v", got, listed)
	}
	if !list.Remove(engine) || list.Remove(engine) {
		t.Error("an entry can be removed once")
	}
	if paths := list.Paths(); len(paths) != 1 || filepath.Base(paths[0]) != "other" {
		t.Errorf("left: %v", paths)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("left in the folder: %v", left)
	}
}

func TestADamagedTrustListTrustsNothing(t *testing.T) {
	sum := strings.Repeat("0", 64)
	for _, text := range []string{"x  /a", sum + " /a", sum + "  a", sum[1:] + "  /a", "# fine\n\n" + sum + "  /a\n/b"} {
		file := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTrust(file); err == nil || !strings.Contains(err.Error(), "line") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
