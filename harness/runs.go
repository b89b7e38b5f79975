package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Runs finds the folders of runs in a store: dir itself and all folders below it, in the order of their names. A folder
// with a journal and no run.json is one of them, because something is missing there; an empty journal is what is left
// when a run is killed in its first moment, and is none. An ErrUsage says that dir is no folder.
func Runs(dir string) (folders []string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, Usage("%s is no folder; name a store: a folder with the folders of runs in it", dir)
	}
	root := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		root = real // a walk does not follow a link, not even at its beginning
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path != root && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)):
			return fs.SkipDir // somebody else's, or gone since its name was read
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir // a store's own
		case d.IsDir() && holdsRun(path):
			folders = append(folders, filepath.Join(dir, strings.TrimPrefix(path, root)))
		}
		return nil
	})
	return folders, err
}

func holdsRun(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); err == nil {
		return true
	}
	journal, err := os.Stat(filepath.Join(dir, JournalFile))
	return err == nil && journal.Size() > 0
}
