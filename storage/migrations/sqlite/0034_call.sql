-- +goose Up
-- Calls of the last minute for which there is no licence: those that read or
-- change records. ended is by the clock that nobody can set, 0 while under way.
create table account_call (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  boot integer not null,
  ended integer not null
);
create index account_call_account on account_call (account_id);

-- +goose Down
drop table account_call;
