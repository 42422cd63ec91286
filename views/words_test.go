package views

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"smsdesk/internal/wording"
)

// TestSentencesSayOneWord reads every sentence of the pages where it is written,
// so that also those are seen which no test brings onto a page.
func TestSentencesSayOneWord(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	banned, read, files := wording.NewChecker(), 0, token.NewFileSet()
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(source, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING || !strings.Contains(text.Value, " ") {
				return true
			}
			read++
			said, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range banned.Check(said) {
				t.Errorf("%s says %s", files.Position(text.Pos()), f)
			}
			return true
		})
	}
	if read < 1000 {
		t.Errorf("only %d sentences were read", read)
	}
}
