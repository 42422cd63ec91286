package main_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sections are those of the provider's interface specification, which "§" cites.
const sections = " 1 2 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 5 6 6.1 6.2 7 8 9 "

var (
	citedSection = regexp.MustCompile(`§ ?([0-9]+(?:\.[0-9]+)*)`)
	citedPaper   = regexp.MustCompile("`?((?:[\\w.-]+/)*[\\w-]+\\.md)`?(?:, ([A-Z][\\w' ]+))?")
	citedCode    = regexp.MustCompile(`\b[DFSTUWI]-[0-9]{2}\b`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestPapersExist: what code and pages cite is in the repository or in the
// interface specification, down to the heading. A code such as a letter and a
// number belongs to a list that readers do not have.
func TestPapersExist(t *testing.T) {
	root := os.DirFS(moduleRoot(t))
	cited := 0
	for _, file := range textFiles(t, root) {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		joined := unwrapped(string(text))
		for _, m := range citedSection.FindAllStringSubmatch(joined, -1) {
			cited++
			if !strings.Contains(sections, " "+m[1]+" ") {
				t.Errorf("%s: the interface specification has no section %s", file, m[1])
			}
		}
		for _, m := range citedPaper.FindAllStringSubmatch(joined, -1) {
			cited++
			if wrong := lookUp(root, file, m[1], m[2]); wrong != "" {
				t.Errorf("%s: %s", file, wrong)
			}
		}
		if code := citedCode.FindString(joined); code != "" {
			t.Errorf("%s: %s is a code of a list that is not here; say what it means", file, code)
		}
	}
	t.Logf("%d citations", cited)
	if cited < 100 {
		t.Error("hardly anything is cited: does this test still read the files?")
	}
}

// unwrapped puts a sentence that goes over several lines of a comment on one.
func unwrapped(text string) string {
	return regexp.MustCompile(`\n\s*(?:(?://|--|#|\*)\s)?\s*`).ReplaceAllString(text, " ")
}

// lookUp says what is wrong with a citation, "" for nothing.
func lookUp(root fs.FS, from, paper, section string) string {
	for _, at := range []string{paper, path.Join(path.Dir(from), paper)} {
		text, err := fs.ReadFile(root, at)
		if err != nil {
			continue
		}
		if section == "" {
			return ""
		}
		for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(section, h[1]) || strings.HasPrefix(h[1], section) {
				return ""
			}
		}
		return paper + " has no heading " + section
	}
	return "there is no " + paper
}

func textFiles(t *testing.T, root fs.FS) (files []string) {
	t.Helper()
	kinds := []string{".go", ".templ", ".sql", ".md", ".css", ".yaml", ".js", ".awk"}
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name != "." && slices.Contains(foldersSkipped, e.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		read := slices.Contains(kinds, path.Ext(name)) || name == "Makefile"
		if read && !strings.HasSuffix(name, "_templ.go") && e.Name() != "papers_test.go" &&
			!strings.HasSuffix(name, ".min.js") {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	citedRun  = regexp.MustCompile(`go test ((?:\./[\w/]+ ?)+)-run (?:'([^']+)'|([\w|]+))`)
	testNamed = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
)

// TestCommandsRunSomething: each alternative of a "go test -run" that a page
// names stands for a test that is there.
func TestCommandsRunSomething(t *testing.T) {
	root := os.DirFS(moduleRoot(t))
	found := 0
	for _, file := range textFiles(t, root) {
		if path.Ext(file) != ".md" {
			continue
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range citedRun.FindAllStringSubmatch(string(text), -1) {
			names := testsIn(t, root, strings.Fields(m[1]))
			for pattern := range strings.SplitSeq(strings.ReplaceAll(m[2]+m[3], `\|`, "|"), "|") {
				found++
				if !strings.Contains(names, pattern) {
					t.Errorf("%s: go test %s-run %s runs nothing", file, m[1], pattern)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d commands were found: does this test still read the pages?", found)
	}
}

// testsIn lists the tests of packages, and of those below one with "/...".
func testsIn(t *testing.T, root fs.FS, packages []string) (names string) {
	t.Helper()
	for _, p := range packages {
		dir := strings.TrimPrefix(strings.TrimSuffix(p, "/..."), "./")
		files, err := fs.Glob(root, dir+"/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := fs.ReadFile(root, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testNamed.FindAllStringSubmatch(string(text), -1) {
				names += m[1] + "\n"
			}
		}
	}
	return names
}
