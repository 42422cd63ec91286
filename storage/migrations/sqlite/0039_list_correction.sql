-- +goose Up
-- Cells of an uploaded list that a person corrected. The file stays as it is.
create table list_correction (
  list_id integer not null references list(id) on delete cascade,
  row_no integer not null,
  col integer not null,
  given text not null,
  corrected text not null,
  user_id integer not null,
  user_name text not null,
  corrected_at integer not null,
  primary key (list_id, row_no, col)
) without rowid;

-- +goose Down
drop table list_correction;
