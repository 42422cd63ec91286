-- +goose Up
create table blocked (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  number text not null,
  kind text not null,
  note text not null,
  by_id integer not null,
  by_name text not null,
  since integer not null
);
create unique index blocked_number on blocked (account_id, number);
create index blocked_newest on blocked (account_id, id);

-- +goose Down
drop table blocked;
