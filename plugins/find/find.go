// Package find finds engines that are named without a path, and keeps the list of those that the user trusts.
//
// An engine NAME is a file teps-engine-NAME (a program) or teps-engine-NAME.so (a shared library) in one of these
// places, of which the first wins:
//
//	the folders of the variable TEPS_ENGINE_PATH   if it is in the trust list
//	the user's folder, ~/.config/teps/engines      (os.UserConfigDir)
//	the folder of the program teps
//
// Who can write to the last two can also replace teps or its configuration, so an engine there needs no entry in the
// list. An engine that is in the list, wherever it lies, is refused when its file has changed (trust.go).
package find

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Variable is the name of the path variable.
const Variable = "TEPS_ENGINE_PATH"

// Prefix is what the file of an engine begins with.
const Prefix = "teps-engine-"

// bridge is a program that is not an engine by itself: it serves the library that it is given.
const bridge = Prefix + "native"

// Place is a folder in which engines are looked for.
type Place struct {
	Dir    string // absolute
	What   string // what a user calls it
	Listed bool   // engines here must be in the trust list
}

// Places returns the places in the order in which they are searched. variable is the value of Variable, config the
// user's folder for configuration, program the path of teps; an empty one adds no place.
func Places(variable, config, program string) []Place {
	var places []Place
	add := func(p Place) {
		dir, err := filepath.Abs(p.Dir)
		if err != nil || slices.ContainsFunc(places, func(other Place) bool { return other.Dir == dir }) {
			return
		}
		p.Dir = dir
		places = append(places, p)
	}
	for _, dir := range filepath.SplitList(variable) {
		if dir != "" {
			add(Place{dir, "on " + Variable, true})
		}
	}
	if config != "" {
		add(Place{filepath.Join(config, "teps", "engines"), "the user's folder", false})
	}
	if program != "" {
		add(Place{filepath.Dir(program), "beside teps", false})
	}
	return places
}

// Engine is a file that was found.
type Engine struct {
	Name   string
	Path   string
	Place  Place
	Hidden string // the path of an engine of the same name that comes first; empty: none
}

// Engines lists the engines of all places, in the order of the places and of their names. Folders that are not there
// hold none.
func Engines(places []Place) []Engine {
	var all []Engine
	first := map[string]string{}
	for _, place := range places {
		files, err := os.ReadDir(place.Dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			path := filepath.Join(place.Dir, f.Name())
			name, ok := engineName(f.Name())
			info, err := os.Stat(path)
			if !ok || err != nil || !info.Mode().IsRegular() || !Library(path) && info.Mode()&0o111 == 0 {
				continue
			}
			all = append(all, Engine{name, path, place, first[name]})
			if first[name] == "" {
				first[name] = path
			}
		}
	}
	return all
}

// Named returns the engine of a name that wins.
func Named(places []Place, name string) (Engine, bool) {
	for _, e := range Engines(places) {
		if e.Name == name {
			return e, true
		}
	}
	return Engine{}, false
}

func engineName(file string) (string, bool) {
	name, ok := strings.CutPrefix(file, Prefix)
	if Library(file) {
		name, _, _ = strings.Cut(name, ".")
	}
	return name, ok && name != "" && !strings.Contains(name, ".") && file != bridge
}

// Library says whether a file is a shared library, by its name: libmine.so, libmine.so.2, libmine.dylib.
func Library(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".so") || strings.Contains(name, ".so.") || strings.HasSuffix(name, ".dylib")
}
