-- +goose Up
-- Blocks, and ends of blocks, that the log of blocks lacks still, as lines of
-- that log and in the order in which they were made.
create table block_owed (
  id integer primary key autoincrement,
  line text not null
);

-- +goose Down
drop table block_owed;
