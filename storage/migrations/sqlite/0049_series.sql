-- +goose Up
-- Campaigns that repeat, and each time that they did. A rule is written as
-- internal/series writes it.
create table series (
  id integer primary key autoincrement,
  uid text not null,
  account_id integer not null references account(id),
  token text not null,
  name text not null,
  sender_id text not null,
  template text not null,
  text text not null,
  flash integer not null,
  audience_id integer not null,
  rule text not null,
  ceiling integer not null,
  state text not null,
  pause text not null,
  run_count integer not null,
  last_day text not null,
  next_at integer not null,
  version integer not null,
  created_by integer not null,
  created_name text not null,
  created_at integer not null,
  changed_at integer not null
);
create unique index series_uid on series (uid);
create unique index series_token on series (token);
create index series_account on series (account_id, id);
create index series_next on series (next_at) where state = 'active';
create table series_run (
  series_id integer not null references series(id),
  run integer not null,
  day text not null,
  due_at integer not null,
  zone text not null,
  zone_offset integer not null,
  state text not null,
  why text not null,
  list_uid text not null,
  campaign_id integer not null,
  left_out integer not null,
  changed_at integer not null,
  primary key (series_id, run)
);
create index series_run_open on series_run (series_id, run) where state = 'making';
alter table campaign add column series_id integer not null default 0;
alter table campaign add column series_run integer not null default 0;

-- +goose Down
alter table campaign drop column series_run;
alter table campaign drop column series_id;
drop table series_run;
drop table series;
