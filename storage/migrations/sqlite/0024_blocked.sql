-- +goose Up
-- Blocks that ended: what stood in the list of blocked numbers, and how it came
-- off it.
create table ended_block (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  number text not null,
  kind text not null,
  note text not null,
  by_id integer not null,
  by_name text not null,
  since integer not null,
  proof text not null,
  message_id integer not null,
  ended_at integer not null,
  ended_kind text not null,
  ended_note text not null,
  ended_by_id integer not null,
  ended_by_name text not null
);
create index ended_block_number on ended_block (account_id, number, id);
create index ended_block_keeping on ended_block (ended_at, id);

-- Two people who change one contact do not overwrite each other.
alter table contact add column version integer not null default 1;

-- +goose Down
alter table contact drop column version;
drop table ended_block;
