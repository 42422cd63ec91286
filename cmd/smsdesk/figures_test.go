package main_test

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// Bars of the house: who outgrows one divides what it holds by noun.
const (
	mostInterface = 20    // methods
	mostType      = 60    // methods that it declares itself
	mostPackage   = 6_000 // hand-written lines without tests
)

// barless lists what has no bar, each with the reason.
var barless = map[string]string{
	"internal/rig.Service":     "all that rooms ask of an account, for tests that need one for all of them",
	"internal/sandbox.Sandbox": "a double of the whole service, used by tests and trials",
	"storage/query.Queries":    "generated from SQL",
	"storage/query.Querier":    "generated from SQL",
	"views":                    "one function for each piece of a page; markup has many lines",
	"storage":                  "campaigns, messages, calls and reports are tied by transactions",
}

// forTests are packages that only tests and checks have a use for: their
// statements are no part of the program.
var forTests = map[string]bool{".ci": true, "internal/migrated": true, "internal/rig": true, "internal/wording": true}

// figures are counts of the hand-written sources.
type figures struct {
	statements map[string]int // by package, tests apart
	lines      map[string]int // by package, tests apart
	methods    map[string]int // by type
	interfaces map[string]int // by interface
}

func TestFiguresOfTheHouse(t *testing.T) {
	f := count(t)
	t.Logf("measured: %d statements without tests and generated code", total(f.statements))
	t.Logf("measured: largest package by hand-written lines without tests: %s", largest(f.lines))
	t.Logf("measured: largest interface by methods: %s", largest(f.interfaces))
	t.Logf("measured: type with most methods: %s", largest(f.methods))
	f.hold(t, f.lines, mostPackage, "hand-written lines")
	f.hold(t, f.interfaces, mostInterface, "methods")
	f.hold(t, f.methods, mostType, "methods")
	// The walk itself could go wrong and count nothing.
	if f.lines["storage"] < 1000 || f.statements["storage"] < 1000 || total(f.methods) < 1000 ||
		f.interfaces["internal/desk.PeopleStore"] < 5 {
		t.Errorf("storage has %d lines, %d statements; %d methods in all; internal/desk.PeopleStore %d", f.lines["storage"],
			f.statements["storage"],
			total(f.methods), f.interfaces["internal/desk.PeopleStore"])
	}
}

func (f figures) hold(t *testing.T, sizes map[string]int, bar int, what string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if size := sizes[name]; size > bar && barless[name] == "" {
			t.Errorf("%s has %d %s, the bar is %d; divide it by noun", name, size, what, bar)
		}
	}
}

func count(t *testing.T) figures {
	t.Helper()
	f := figures{statements: map[string]int{}, lines: map[string]int{}, methods: map[string]int{},
		interfaces: map[string]int{}}
	declared := map[string]*ast.InterfaceType{}
	for _, s := range goSources(t) {
		if s.test || generatedLine.MatchString(s.text) {
			continue
		}
		f.lines[s.pkg] += strings.Count(s.text, "\n")
		ast.Inspect(s.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt, *ast.EmptyStmt:
			case ast.Stmt:
				if !forTests[s.pkg] {
					f.statements[s.pkg]++
				}
			case *ast.FuncDecl:
				if n.Recv != nil {
					f.methods[s.pkg+"."+receiver(n.Recv.List[0].Type)]++
				}
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					declared[s.pkg+"."+n.Name.Name] = i
				}
			}
			return true
		})
	}
	for file, text := range files(t, ".templ") {
		f.lines[path.Dir(file)] += strings.Count(text, "\n")
	}
	for name := range declared {
		f.interfaces[name] = len(methodsOf(name, declared))
	}
	return f
}

// methodsOf lists the methods of an interface with those that it embeds; one of
// another module counts as one method.
func methodsOf(name string, declared map[string]*ast.InterfaceType) map[string]bool {
	all := map[string]bool{}
	for _, field := range declared[name].Methods.List {
		for _, method := range field.Names {
			all[method.Name] = true
		}
		embedded := ""
		switch e := field.Type.(type) {
		case *ast.Ident:
			embedded = name[:strings.LastIndex(name, ".")+1] + e.Name
		case *ast.SelectorExpr:
			embedded = fmt.Sprint(e.X, ".", e.Sel.Name)
			for other := range declared {
				if strings.HasSuffix("/"+other, "/"+embedded) {
					embedded = other
				}
			}
		}
		switch {
		case declared[embedded] != nil:
			maps.Copy(all, methodsOf(embedded, declared))
		case embedded != "":
			all[embedded] = true
		}
	}
	return all
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func total(sizes map[string]int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}

// largest names the largest that has a bar, and the largest of all.
func largest(sizes map[string]int) string {
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return sizes[b] - sizes[a] })
	barred := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return barless[name] != "" })
	out := fmt.Sprintf("%s %d", barred[0], sizes[barred[0]])
	if names[0] != barred[0] {
		out += fmt.Sprintf(" (%s %d has no bar)", names[0], sizes[names[0]])
	}
	return out
}
