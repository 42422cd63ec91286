package main_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stateFields are those of sms.Campaign that its transitions write. Name is not
// among them: whoever makes a campaign names it.
var stateFields = []string{"State", "Pause", "PauseCode", "Canary", "WindowFrom", "StartedBy", "StartedName",
	"StartedAt", "FinishedAt", "CancelledBy",
	"SendAt", "SendZone", "SendOffset", "SendAgain", "HandOver", "Approval"}

// stateWriters are all that may write them, by file and function.
var stateWriters = map[string]string{
	"internal/sms/campaignstate.go *":        "the table and its methods",
	"storage/campaign.go campaign":           "reads a row",
	"storage/messagesearch.go displayFields": "reads the row of a found message",
	"storage/decision.go doubtGroup":         "reads the row of a draft, to name it",
	"storage/countcheck.go messages":         "reads rows, to count what they show",
	"internal/lists/make.go plan":            "begins a campaign of a list, with what its person knew of another",
	"storage/claim.go claimFrom":             "reads the row of a campaign whose turn it is, for its times",
}

// TestACampaignsStateIsWrittenInOnePlace reads every package with its types: a
// transition that is made by hand forgets what goes along with it.
func TestACampaignsStateIsWrittenInOnePlace(t *testing.T) {
	found := map[string]bool{}
	for _, p := range typed(t) {
		for _, f := range p.files {
			for _, d := range f.Decls {
				for _, w := range p.writes(d) {
					file := strings.TrimPrefix(p.fset.Position(w.at).Filename, p.root+string(filepath.Separator))
					in := "-"
					if fn, is := d.(*ast.FuncDecl); is {
						in = fn.Name.Name
					}
					if allowed := stateWriters[file+" "+in] + stateWriters[file+" *"]; allowed == "" {
						t.Errorf("%s: %s of a campaign is written in %s; the methods of internal/sms/campaignstate.go do that",
							p.fset.Position(w.at), w.field, in)
					}
					found[file+" "+in], found[file+" *"] = true, true
				}
			}
		}
	}
	for _, who := range slices.Sorted(maps.Keys(stateWriters)) {
		if !found[who] {
			t.Errorf("%s writes nothing of a campaign's state any more", who)
		}
	}
}

// typedPackage is a package with its types.
type typedPackage struct {
	root  string
	fset  *token.FileSet
	files []*ast.File
	info  types.Info
}

// typed reads every package of ours; what they import comes from the compiler's
// own files.
func typed(t *testing.T) (list []typedPackage) {
	t.Helper()
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Standard", "./...")
	command.Dir, command.Stderr = "../..", os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Standard                bool
	}
	exports, ours := map[string]string{}, []listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath+"/", module+"/") {
			ours = append(ours, p)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil || len(ours) < 10 {
		t.Fatal(len(ours), err)
	}
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range ours {
		s := typedPackage{root: root, fset: fset, info: types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{},
			Types: map[ast.Expr]types.TypeAndValue{}}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			s.files = append(s.files, f)
		}
		if _, err := (&types.Config{Importer: compiled}).Check(p.ImportPath, fset, s.files, &s.info); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// write is one place where a field of a campaign's state gets a value, or its
// address is taken for that.
type write struct {
	at    token.Pos
	field string
}

func (s typedPackage) writes(d ast.Decl) (list []write) {
	add := func(e ast.Expr) {
		if sel, is := ast.Unparen(e).(*ast.SelectorExpr); is && slices.Contains(stateFields, sel.Sel.Name) {
			if chosen := s.info.Selections[sel]; chosen != nil && ofCampaign(chosen) {
				list = append(list, write{sel.Pos(), sel.Sel.Name})
			}
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				add(e)
			}
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			add(n.Key)
			add(n.Value)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				add(n.X)
			}
		case *ast.CompositeLit:
			if !isCampaign(s.info.Types[n].Type) {
				break
			}
			for _, e := range n.Elts {
				kv, named := e.(*ast.KeyValueExpr)
				if !named {
					list = append(list, write{e.Pos(), "every field"})
				} else if key := kv.Key.(*ast.Ident).Name; slices.Contains(stateFields, key) {
					list = append(list, write{kv.Pos(), key})
				}
			}
		}
		return true
	})
	return list
}

// ofCampaign says that a chosen field is the campaign's own, or reached through
// one that is embedded.
func ofCampaign(chosen *types.Selection) bool {
	at := chosen.Recv()
	for _, i := range chosen.Index() {
		if isCampaign(at) {
			return true
		}
		if pointer, is := at.Underlying().(*types.Pointer); is {
			at = pointer.Elem()
		}
		if isCampaign(at) {
			return true
		}
		fields, is := at.Underlying().(*types.Struct)
		if !is || i >= fields.NumFields() {
			return false
		}
		at = fields.Field(i).Type()
	}
	return false
}

func isCampaign(t types.Type) bool {
	named, is := types.Unalias(t).(*types.Named)
	return is && named.Obj().Name() == "Campaign" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == module+
		"/internal/sms"
}
