package storage

import (
	"database/sql"
	"fmt"
	"net/url"
)

// stagingRows is how many rows one statement puts into a staging file.
const stagingRows = 16

// stagingSchema is that of a staging file, which is SQLite beside every engine.
// verdict holds 2 * parts, 1 for Unicode, and 65,536 * the place of the kind
// among sms.RowKinds, counted from 1.
const stagingSchema = `
create table row (
  row_no integer primary key,
  number integer not null,
  text text not null,
  verdict integer not null
);
create table note (
  kind integer not null,
  row_no integer not null,
  col integer not null,
  text text not null,
  before text not null,
  after text not null,
  other integer not null,
  cells text not null,
  primary key (kind, row_no)
) without rowid;`

// openStaging opens the staging file of one list. It is written once and can
// be made again, so nothing of it is synced on the way; once whole it is only
// read.
func openStaging(path string, write bool) (*sql.DB, error) {
	q := url.Values{}
	if write {
		q["_pragma"] = []string{"page_size(8192)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)",
			"cache_size(-1000)"}
	} else {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
		q["_pragma"] = []string{"query_only(1)", "cache_size(-1000)"}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open the staged rows: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}
