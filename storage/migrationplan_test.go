package storage

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goUp      = regexp.MustCompile(`(?s)-- \+goose Up\n(.*?)-- \+goose Down`)
	wholeOnes = regexp.MustCompile(`(?s)-- \+goose StatementBegin\n(.*?)-- \+goose StatementEnd`)
	sqlNote   = regexp.MustCompile(`(?m)^\s*--.*$`)
	// SQLite calls it a search where only the least row is wanted.
	wholeTable = regexp.MustCompile(`^(SCAN \w+|SEARCH \w+$)`)
	moves      = regexp.MustCompile(`(?i)^(update|insert|delete)\b`)
)

// upOf lists the statements with which a migration goes up.
func upOf(text string) (list []string) {
	up := goUp.FindStringSubmatch(text)
	if up == nil {
		return nil
	}
	rest := up[1]
	for rest != "" {
		before, whole, after := rest, "", ""
		if at := wholeOnes.FindStringSubmatchIndex(rest); at != nil {
			before, whole, after = rest[:at[0]], rest[at[2]:at[3]], rest[at[1]:]
		}
		for _, one := range strings.Split(sqlNote.ReplaceAllString(before, ""), ";\n") {
			list = append(list, strings.TrimSpace(one))
		}
		list, rest = append(list, strings.TrimSpace(whole)), after
	}
	return list
}

// A migration that looks through a table for each row of another never ends in the
// folder of an organisation that has sent a million messages.
func TestNoMigrationLooksThroughATableForEachRow(t *testing.T) {
	db, err := sql.Open("sqlite", sqliteDSN(filepath.Join(t.TempDir(), "smsdesk.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	files, err := fs.Glob(migrations, "migrations/sqlite/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range files {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range upOf(string(text)) {
			if moves.MatchString(statement) {
				looked++
				for _, scan := range scansInScans(t, db, statement) {
					t.Errorf("%s: %s for each row:\n%s", filepath.Base(name), scan, statement)
				}
			}
			if statement == "" {
				continue
			}
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, statement)
			}
		}
	}
	if looked < 5 {
		t.Errorf("only %d statements that move rows were found", looked)
	}
}

// scansInScans lists the whole tables that a statement reads again and again.
func scansInScans(t *testing.T, db *sql.DB, statement string) (list []string) {
	t.Helper()
	type step struct {
		parent int
		detail string
	}
	steps, scans := map[int]step{}, map[int]int{}
	rows, err := db.QueryContext(t.Context(), "explain query plan "+statement)
	if err := forEachRow(rows, err, func(scan func(...any) error) error {
		var id, parent, unused int
		var detail string
		err := scan(&id, &parent, &unused, &detail)
		steps[id] = step{parent, detail}
		if !wholeTable.MatchString(detail) {
			return err
		}
		again := scans[parent] > 0 // the inner one of a join
		scans[parent]++
		for at := parent; at != 0 && !again; at = steps[at].parent {
			again = strings.HasPrefix(steps[at].detail, "CORRELATED")
		}
		if again {
			list = append(list, detail)
		}
		return err
	}); err != nil {
		t.Fatalf("%v\n%s", err, statement)
	}
	return list
}
