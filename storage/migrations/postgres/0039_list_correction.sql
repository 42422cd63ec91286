-- +goose Up
-- Cells of an uploaded list that a person corrected. The file stays as it is.
create table list_correction (
  list_id bigint not null references list(id) on delete cascade,
  row_no bigint not null,
  col bigint not null,
  given text not null,
  corrected text not null,
  user_id bigint not null,
  user_name text not null,
  corrected_at bigint not null,
  primary key (list_id, row_no, col)
);

-- +goose Down
drop table list_correction;
