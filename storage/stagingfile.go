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
  verdict integer not null,
  text_hash blob not null
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

// madeSchema is that of the file with what was decided about rows on their way into a
// campaign: the planned call of each that is sent, and which were left out since the
// check.
const madeSchema = `
create table call (
  row_no integer primary key,
  call_no integer not null
);
create table left_out (
  row_no integer primary key,
  code text not null,
  reason text not null
);`

// stagingUse says what a staging file is opened for.
type stagingUse int

const (
	readStaging stagingUse = iota
	writeStaging
	correctStaging
)

// openStaging opens the staging file of one list. It can be made again from the
// uploaded file, and its sum tells whether it is whole, so nothing of it is
// synced. Written as a whole it has no journal; a correction has one, because
// others read meanwhile.
func openStaging(path string, use stagingUse) (*sql.DB, error) {
	q := url.Values{}
	switch use {
	case writeStaging:
		q["_pragma"] = []string{"page_size(8192)", "journal_mode(OFF)", "synchronous(OFF)", "locking_mode(EXCLUSIVE)",
			"cache_size(-1000)"}
	case correctStaging:
		q.Set("mode", "rw")
		q.Set("_txlock", "immediate")
		q["_pragma"] = []string{"busy_timeout(5000)", "journal_mode(DELETE)", "synchronous(OFF)", "cache_size(-1000)"}
	default:
		q.Set("mode", "ro")
		q["_pragma"] = []string{"busy_timeout(5000)", "query_only(1)", "cache_size(-1000)"}
	}
	db, err := sql.Open("sqlite", fileURI(path, q))
	if err != nil {
		return nil, fmt.Errorf("open the staged rows: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

func fileURI(path string, q url.Values) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}
