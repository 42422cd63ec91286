package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Numbers, texts and keys are nobody else's: files are made private, and those
// that others could read are made so.

const (
	forOthers = 0o077
	// mostNamed is how many files are named one by one.
	mostNamed = 10
)

type widePath struct {
	name string
	mode fs.FileMode
}

// private lists what must be private, besides the folders of flags. The data
// folder itself need not be: it may be one that others have a place in.
func (e env) private(more ...string) []string {
	list := append(e.storage.Files(), filepath.Join(e.storage.Data, "sandbox.jsonl"))
	for _, folder := range more {
		if folder != "" {
			list = append(list, folder)
		}
	}
	return list
}

// openToOthers lists which of the given files and folders, and of all that is in
// these, others than their owner may read or write. Links are not followed, and
// what is not there is private.
func openToOthers(roots ...string) (list []widePath, err error) {
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || d.Type().IsRegular()) {
				var info fs.FileInfo
				if info, err = d.Info(); err == nil && info.Mode().Perm()&forOthers != 0 {
					list = append(list, widePath{path, info.Mode().Perm()})
				}
			}
			// A desk that runs removes files meanwhile.
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return list, fmt.Errorf("look who may read the data folder: %w", err)
		}
	}
	return list, nil
}

// makePrivate takes what others may do with the data away from them.
func (e env) makePrivate(more ...string) error {
	wide, err := openToOthers(e.private(more...)...)
	if err != nil {
		return err
	}
	for _, path := range wide {
		err := os.Chmod(path.name, path.mode&^forOthers)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf(
				"%s may be read or written by others (mode %o), and this cannot be changed from here: %w. Let the user that runs smsdesk own it, then run: chmod go= %s",
				path.name, path.mode, err, path.name)
		}
	}
	if len(wide) > 0 {
		e.log.Warn("others could read or write parts of the data folder; now they cannot", "paths", len(wide), "first",
			wide[0].name, "mode", fmt.Sprintf("%o", wide[0].mode))
	}
	return nil
}
