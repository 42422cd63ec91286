package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "smsdesk"

// row says what a package may import of ours, and why nothing else.
type row struct {
	may    []string
	reason string
	// never lists packages of others that this one must not know.
	never []string
}

const all = "*"

// The table of who may import whom. Every package of ours has a row; tests may
// import what they need.
var table = map[string]row{
	"internal/sms": {
		may:    []string{"internal/health", "internal/phone"},
		reason: "what the desk is about must outlive every way of showing, sending and storing it",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/health": {
		reason: "how the desk itself is, told in sentences; what it sends and to whom is not its business",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/phone": {
		reason: "strangers type numbers; reading one must not depend on why it was typed",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/sheet": {
		may:    []string{"internal/phone", "internal/sms"},
		reason: "an uploaded file becomes nouns; who stores them is not its business",
		never:  []string{"net/http", "database/sql"},
	},
	"internal/ussd": {
		may: []string{"internal/sms"}, reason: "menus and sessions are pure; the callback and the storage come to them",
		never: []string{"database/sql"},
	},
	"internal/ussd/session": {
		may:    []string{"internal/feed", "internal/phone", "internal/sms", "internal/ussd"},
		reason: "a caller waits two seconds at most: campaigns, secrets of accounts and HTTP are not on the way",
		never:  []string{"net/http", "database/sql"},
	},
	"internal/migrated": {
		reason: "tests of storage itself copy its folders too, so it opens nothing by itself",
	},
	"internal/wording": {
		reason: "only tests ask what is not said, and of a page it knows no more than its text",
		never:  []string{"net/http", "database/sql"},
	},
	"internal/plan": {
		may:    []string{"internal/sms"},
		reason: "how few calls carry a campaign is arithmetic over sizes; sending, storage and orders come to it",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/picture": {
		reason: "where a figure stands in a picture is arithmetic over counts; who keeps them and how a page is written is not its business",
		never:  []string{"net/http", "database/sql", "os", "log/slog", "github.com/a-h/templ"},
	},
	"internal/wall": {
		reason: "what strangers see of a campaign and for how long is a rule of its own; campaigns, pages and storage are not its business",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/radar": {
		may:    []string{"internal/sms"},
		reason: "who got a text lately is found from rows and sends that come to it; files, forms and storage are not its business",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/series": {
		may:    []string{"internal/sms"},
		reason: "on which days a campaign repeats is arithmetic; who makes its runs, stores or shows them comes to it",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/series/orders": {
		may:    []string{"internal/desk", "internal/feed", "internal/series", "internal/sms"},
		reason: "what a run needs is asked of the desk, like any campaign's start; lists and storage come to it",
		never:  []string{"net/http", "database/sql", "io", "os"},
	},
	"internal/rehearsal": {
		may:    []string{"internal/sms"},
		reason: "what a rehearsal is and what it foretells is values and arithmetic; it runs, stores and shows nothing",
		never:  []string{"net/http", "database/sql", "os", "log/slog"},
	},
	"internal/rehearsal/stage": {
		may: []string{"internal/desk", "internal/feed", "internal/gateway", "internal/phone", "internal/plan",
			"internal/rehearsal", "internal/sandbox", "internal/sms", "internal/workers", "storage"},
		reason: "it builds a desk of its own for each rehearsal, in a folder that it removes; the real one comes to it as values",
		never:  []string{"database/sql"},
	},
	"internal/feed": {
		may:    []string{"internal/sms"},
		reason: "names travel through it, never data, and it knows neither who listens nor why",
		never:  []string{"net/http", "database/sql"},
	},
	"internal/desk": {
		may: []string{"internal/feed", "internal/health", "internal/phone", "internal/plan",
			"internal/radar", "internal/rehearsal", "internal/series", "internal/sms", "internal/ussd", "internal/wall"},
		reason: "an order ends within one request and opens no file; storage and gateway come to it, so that rules are tested without either",
		never:  []string{"net/http", "database/sql", "io", "os"},
	},
	"internal/lists": {
		may: []string{"internal/feed", "internal/health", "internal/phone", "internal/plan", "internal/radar",
			"internal/series", "internal/sheet", "internal/sms"},
		reason: "it alone opens uploaded files; it makes drafts and starts nothing, so it knows neither dispatcher nor provider",
		never:  []string{"net/http", "database/sql", "os"},
	},
	"internal/rig": {
		may: []string{"internal/desk", "internal/feed", "internal/gateway", "internal/lists", "internal/migrated",
			"internal/sandbox", "internal/series/orders", "internal/sms", "internal/workers", "storage"},
		reason: "it wires a whole desk for tests; only tests may know it",
	},
	"internal/workers": {
		may:    []string{"internal/feed", "internal/health", "internal/picture", "internal/rehearsal", "internal/sms"},
		reason: "loops know no roles, forms or orders: what may start is decided in desk, and the wire is the gateway's",
		never:  []string{"net/http", "database/sql", "os"},
	},
	"internal/gateway": {
		may:    []string{"internal/health", "internal/sms", "internal/ussd"},
		reason: "the one place that knows the provider's wire form; an adapter like storage, it gives no orders",
		never:  []string{"database/sql"},
	},
	"internal/sandbox": {
		may:    []string{"internal/sms"},
		reason: "it plays the provider from the specification; sharing a struct with the client would hide a shared mistake",
		never:  []string{"database/sql"},
	},
	"storage": {
		may: []string{"internal/health", "internal/phone", "internal/picture", "internal/plan", "internal/radar",
			"internal/rehearsal", "internal/series", "internal/sms", "internal/ussd", "internal/wall", "storage/log",
			"storage/query"},
		reason: "it remembers; it cannot order, notify or show",
		never:  []string{"net/http"},
	},
	"storage/log": {
		reason: "lines in files, synced; what a line says is its owner's business, so that every log is written by one piece of code",
		never:  []string{"net/http", "database/sql", "encoding/json"},
	},
	"storage/backup": {
		may:    []string{"internal/health", "internal/sms", "storage"},
		reason: "it knows files and manifests; what is in a database, and what an older state means, is storage's matter",
		never:  []string{"net/http", "database/sql"},
	},
	"storage/query": {
		reason: "generated from SQL; only storage turns rows into nouns",
		never:  []string{"net/http"},
	},
	"static": {
		reason: "files for the browser; it knows no page and no noun",
		never:  []string{"database/sql"},
	},
	"views": {
		may: []string{"internal/health", "internal/phone", "internal/picture", "internal/rehearsal", "internal/series",
			"internal/sms", "internal/ussd", "internal/wall", "static"},
		reason: "a view is a function of values: it cannot query and it cannot act",
		never:  []string{"database/sql"},
	},
	"web/page": {
		may: []string{"internal/desk", "internal/feed", "internal/health", "internal/sheet", "internal/sms", "views",
			"web/kept"},
		reason: "every page stands on it, so it knows none of them, and of the orders only who is signed in",
		never:  []string{"database/sql"},
	},
	"web/kept": {
		reason: "sealed bytes of a person; what they say, and who is signed in, is not its business",
		never:  []string{"net/http", "database/sql"},
	},
	"web/api": {
		may: []string{"internal/desk", "internal/feed", "internal/health", "internal/lists", "internal/phone",
			"internal/sheet", "internal/sms"},
		reason: "programs have tokens and JSON; what a page shows, keeps or asks is none of theirs",
		never:  []string{"database/sql", "html/template"},
	},
	"web/campaign": {
		may: []string{"internal/desk", "internal/feed", "internal/lists", "internal/phone", "internal/picture",
			"internal/rehearsal", "internal/sms", "internal/wall", "views", "web/page"},
		reason: "whoever sends sees neither USSD nor credentials nor accounts of people",
		never:  []string{"database/sql"},
	},
	"web/series": {
		may:    []string{"internal/desk", "internal/series", "internal/series/orders", "internal/sms", "views", "web/page"},
		reason: "series are planned here and days shown; how a campaign is written, checked and sent stands in web/campaign",
		never:  []string{"database/sql"},
	},
	"web/ussd": {
		may: []string{"internal/desk", "internal/feed", "internal/phone", "internal/sms", "internal/ussd", "views",
			"web/page"},
		reason: "menus and their callers work without campaigns and lists",
		never:  []string{"database/sql"},
	},
	"web": {
		may: []string{"internal/desk", "internal/feed", "internal/health", "internal/phone", "internal/sms", "static",
			"views", "web/api", "web/campaign", "web/page", "web/series",
			"web/ussd"},
		reason: "questions go through interfaces that web declares, so it cannot write SQL; callbacks come as an http.Handler from main",
		never:  []string{"database/sql"},
	},
	"cmd/smsdesk": {may: []string{all}, reason: "the parts list wires everything"},
	".ci":         {reason: "tools of the gate; they see the code as text and know no package of ours"},
	"cmd/bench":   {may: []string{all}, reason: "the measuring bench drives every part alone"},
	"e2e": {
		may:    []string{"storage", "internal/sandbox", "web"},
		reason: "stories run against the built program; they seed and look, they do not reach in",
	},
}

// owners says which of our packages may know a library, so that it can be
// replaced in one place.
var owners = []struct {
	library string
	may     []string
	reason  string
}{
	{"github.com/go-chi/", []string{"web", "web/page"}, "the router is web's own matter"},
	{"github.com/gorilla/", []string{"web/page"}, "who asks is web/page's own matter"},
	{"github.com/a-h/templ", []string{"views", "web/page"}, "views are written in it and web/page renders them"},
	{"modernc.org/", []string{"storage"}, "engine.go alone differs between engines"},
	{"github.com/jackc/pgx", []string{"storage"}, "engine.go alone differs between engines"},
	{"github.com/pressly/goose", []string{"storage"}, "the schema is storage's own matter"},
	{"github.com/xuri/", nil, "number formats are rendered by internal/sheet; the library is the yardstick of its tests"},
	{"filippo.io/age", []string{"storage/backup", "web/kept"}, "a backup's key, and what is kept for one person, are sealed with it"},
	{"golang.org/x/term", []string{"cmd/smsdesk"}, "a terminal is asked by main alone"},
	{"golang.org/x/sys/", []string{"storage"}, "steady.go alone asks the system for the clock that nobody can set"},
	{"github.com/alecthomas/kong", []string{"cmd/smsdesk", "cmd/bench"}, "flags end in main; packages get values"},
}

// unsafePieces are templ's ways past escaping. A file that needs one is listed
// with the reason.
var (
	unsafePieces = regexp.MustCompile(
		`\btempl\.(?:Raw|JSUnsafe\w*|JSExpression|JSONScript|SafeClass|SafeCSS\w*|SafeURL|FromGoHTML|ToGoHTML)\b`)
	unsafeAllowed  = map[string]string{}
	generatedLine  = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	foldersSkipped = []string{".git", ".cache", "bin", "data", "node_modules", "testdata"}
)

type source struct {
	file    string // from the root of the module, with slashes
	pkg     string
	test    bool
	imports []string
	tree    *ast.File
	text    string
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range goSources(t) {
		seen[s.pkg] = true
		rule, known := table[s.pkg]
		if !known {
			t.Errorf("%s: package %s has no row in the table of who may import whom; add one with its reason", s.file, s.pkg)
			continue
		}
		if s.test {
			continue
		}
		for _, imported := range s.imports {
			if why := refused(s.pkg, rule, imported); why != "" {
				t.Errorf("%s: %s must not import %s: %s", s.file, s.pkg, imported, why)
			}
		}
	}
	// The walk itself could go wrong and find nothing.
	for _, must := range []string{"internal/sms", "internal/desk", "internal/gateway", "storage", "views", "web",
		"cmd/smsdesk"} {
		if !seen[must] {
			t.Errorf("no source of %s was found", must)
		}
	}
}

// What wires a whole desk for tests must not be wired into the program.
func TestOnlyTestsImportTheRig(t *testing.T) {
	const rig = module + "/internal/rig"
	used := 0
	for _, s := range goSources(t) {
		switch {
		case !slices.Contains(s.imports, rig):
		case s.test:
			used++
		default:
			t.Errorf("%s imports %s, which is for tests", s.file, rig)
		}
	}
	if used == 0 {
		t.Error("no test imports the rig")
	}
}

func refused(pkg string, rule row, imported string) string {
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		if rule.may != nil && rule.may[0] == all || slices.Contains(rule.may, ours) {
			return ""
		}
		return rule.reason
	}
	if slices.Contains(rule.never, imported) {
		return rule.reason
	}
	for _, o := range owners {
		if strings.HasPrefix(imported, o.library) && !slices.Contains(o.may, pkg) {
			return o.reason
		}
	}
	return ""
}

// The table itself must refuse what it is there to refuse.
func TestImportsAreRefused(t *testing.T) {
	for _, tc := range []struct {
		pkg, imported string
		refused       bool
	}{
		{"internal/sms", "net/http", true},
		{"internal/sms", "database/sql", true},
		{"internal/sms", "smsdesk/internal/ussd", true},
		{"internal/desk", "smsdesk/storage", true},
		{"internal/desk", "smsdesk/internal/gateway", true},
		{"internal/desk", "smsdesk/internal/sms", false},
		{"internal/desk", "smsdesk/internal/lists", true},
		{"internal/desk", "smsdesk/internal/workers", true},
		{"internal/desk", "os", true},
		{"internal/lists", "smsdesk/internal/workers", true},
		{"internal/lists", "smsdesk/internal/gateway", true},
		{"internal/workers", "smsdesk/internal/desk", true},
		{"internal/workers", "smsdesk/internal/lists", true},
		{"web", "smsdesk/internal/sheet", true},
		{"web/campaign", "smsdesk/internal/sheet", true},
		{"internal/sandbox", "smsdesk/internal/gateway", true},
		{"storage", "smsdesk/internal/desk", true},
		{"storage", "modernc.org/sqlite", false},
		{"internal/sheet", "github.com/xuri/excelize/v2", true},
		{"views", "smsdesk/storage", true},
		{"views", "smsdesk/web", true},
		{"views", "github.com/a-h/templ/runtime", false},
		{"web", "smsdesk/storage", true},
		{"web", "smsdesk/storage/query", true},
		{"web", "smsdesk/internal/gateway", true},
		{"web", "github.com/go-chi/chi/v5", false},
		{"internal/desk", "github.com/go-chi/chi/v5", true},
		{"web", "modernc.org/sqlite", true},
		{"web", "github.com/jackc/pgx/v5", true},
		{"internal/gateway", "github.com/a-h/templ", true},
		{"cmd/smsdesk", "smsdesk/storage", false},
		{"cmd/smsdesk", "github.com/gorilla/sessions", true},
	} {
		if got := refused(tc.pkg, table[tc.pkg], tc.imported) != ""; got != tc.refused {
			t.Errorf("%s importing %s: refused %v, want %v", tc.pkg, tc.imported, got, tc.refused)
		}
	}
	for pkg, rule := range table {
		if rule.reason == "" {
			t.Errorf("%s has no reason", pkg)
		}
		for _, may := range rule.may {
			if _, known := table[may]; may != all && !known {
				t.Errorf("%s may import %s, which has no row", pkg, may)
			}
		}
	}
}

// What happens before main cannot be wired, tested or stopped.
func TestNoInit(t *testing.T) {
	for _, s := range goSources(t) {
		for _, d := range s.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init", s.file)
			}
		}
	}
}

func TestNothingGoesPastEscaping(t *testing.T) {
	check := func(file, text string) {
		if _, allowed := unsafeAllowed[file]; allowed {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			if m := unsafePieces.FindString(line); m != "" {
				t.Errorf("%s:%d: %s goes past escaping; a file that needs it is listed here with its reason", file, i+1, m)
			}
		}
	}
	templates := 0
	for file, text := range files(t, ".templ") {
		templates++
		check(file, text)
	}
	if templates == 0 {
		t.Error("no template was found")
	}
	for _, s := range goSources(t) {
		// Generated views name these types where they are safe; their templ
		// sources were looked at above.
		if !s.test && !generatedLine.MatchString(s.text) && !strings.HasSuffix(s.file, "_templ.go") {
			check(s.file, s.text)
		}
	}
	if !unsafePieces.MatchString("@templ.Raw(text)") || !unsafePieces.MatchString("templ.JSUnsafeFuncCall(x)") ||
		unsafePieces.MatchString("templ.Component") {
		t.Error("the pattern does not find what it is there to find")
	}
}

func goSources(t *testing.T) []source {
	t.Helper()
	var out []source
	texts := files(t, ".go")
	for _, file := range slices.Sorted(maps.Keys(texts)) {
		tree, err := parser.ParseFile(token.NewFileSet(), file, texts[file], parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("reading %s: %v", file, err)
		}
		s := source{file: file, pkg: path.Dir(file), test: strings.HasSuffix(file, "_test.go"), tree: tree, text: texts[file]}
		for _, i := range tree.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatalf("%s: import %s: %v", file, i.Path.Value, err)
			}
			s.imports = append(s.imports, imported)
		}
		out = append(out, s)
	}
	return out
}

// files reads all files of the module with this ending, by their path from its
// root.
func files(t *testing.T, ending string) map[string]string {
	t.Helper()
	root := os.DirFS(moduleRoot(t))
	out := map[string]string{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(foldersSkipped, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ending:
			return nil
		}
		content, err := fs.ReadFile(root, name)
		out[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		up := filepath.Dir(folder)
		if up == folder {
			t.Fatal("no go.mod above the test")
		}
		folder = up
	}
}
