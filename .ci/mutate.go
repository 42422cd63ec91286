// Mutate applies each mutation of .ci/mutants, one at a time, and runs the tests
// of the package that owns the changed file. A mutation that no test notices is a
// rule that nobody holds: the exit status is 1 then. Nothing in the checkout is
// written; the compiler is given the changed file in place of the real one.
//
//	go run .ci/mutate.go            all of them
//	go run .ci/mutate.go journal    those whose name holds the word
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// atOnce is how many are tried at the same time.
const atOnce = 2

// mutation is one change: old stands in file exactly once. tests are arguments
// of go test.
type mutation struct {
	name, file, old, new string
	tests                []string
}

func main() {
	list, err := read(".ci/mutants")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if len(os.Args) > 1 {
		list = chosen(list, os.Args[1])
	}
	bad := tryAll(list)
	fmt.Printf("measured: %d of %d mutations were noticed by a test of their own package\n", len(list)-bad, len(list))
	if bad > 0 || len(list) == 0 {
		os.Exit(1)
	}
}

func chosen(list []mutation, word string) (some []mutation) {
	for _, m := range list {
		if strings.Contains(m.name, word) {
			some = append(some, m)
		}
	}
	return some
}

// tryAll says what became of each, and how many were not killed.
func tryAll(list []mutation) (bad int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	places := make(chan struct{}, atOnce)
	for _, m := range list {
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			by, err := m.try()
			mu.Lock()
			defer mu.Unlock()
			took := time.Since(began).Round(time.Second)
			if err != nil {
				bad++
				fmt.Printf("SURVIVED  %s (%s): %v\n", m.name, took, err)
				return
			}
			fmt.Printf("killed    %s (%s) by %s\n", m.name, took, by)
		})
	}
	all.Wait()
	return bad
}

// try names the first test that the mutation turned red.
func (m mutation) try() (by string, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("its old text stands in %s %d times", m.file, n)
	}
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	overlay, err := m.overlay(folder, string(text))
	if err != nil {
		return "", err
	}
	args := append([]string{"test", "-overlay", overlay, "-failfast", "-short", "-count=1", "-timeout", "10m"}, m.tests...)
	args = append(args, "./"+filepath.ToSlash(packageOf(m.file)))
	out, err := exec.Command("go", args...).CombinedOutput()
	if err == nil {
		return "", errors.New("every test passes")
	}
	_, after, red := strings.Cut(string(out), "--- FAIL: ")
	if !red {
		return "", fmt.Errorf("no test failed:\n%s", bytes.TrimSpace(out))
	}
	by, _, _ = strings.Cut(after, " ")
	return by, nil
}

// overlay writes the changed file and what tells the compiler of it.
func (m mutation) overlay(folder, text string) (string, error) {
	real, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(folder, filepath.Base(m.file))
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {real: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, errors.Join(os.WriteFile(changed, []byte(strings.Replace(text, m.old, m.new, 1)), 0o600),
		os.WriteFile(path, raw, 0o600))
}

// packageOf is the folder of the package whose tests must notice: migrations
// belong to storage.
func packageOf(file string) string {
	folder, _, _ := strings.Cut(filepath.ToSlash(filepath.Dir(file)), "/migrations")
	return folder
}

// read reads the list. A mutation is "== name", the file, arguments of go test
// where a slow package is limited to a group, the old text between <<<< and ----,
// and the new one up to >>>>.
func read(path string) (list []mutation, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m mutation
	var old, changed []string
	part := "none"
	for _, line := range strings.Split(string(raw), "\n") {
		name, begins := strings.CutPrefix(line, "== ")
		switch {
		case begins && part == "none":
			m, old, changed, part = mutation{name: name}, nil, nil, "head"
		case line == "<<<<" && part == "head" && m.file != "":
			part = "old"
		case line == "----" && part == "old":
			part = "new"
		case line == ">>>>" && part == "new":
			m.old, m.new, part = strings.Join(old, "\n"), strings.Join(changed, "\n"), "none"
			list = append(list, m)
		case part == "head" && m.file == "":
			m.file = line
		case part == "head":
			m.tests = append(m.tests, strings.Fields(line)...)
		case part == "old":
			old = append(old, line)
		case part == "new":
			changed = append(changed, line)
		}
	}
	if part != "none" {
		return nil, fmt.Errorf("%s: %s does not end", path, m.name)
	}
	return list, nil
}
