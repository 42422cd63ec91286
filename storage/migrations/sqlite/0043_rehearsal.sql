-- +goose Up
-- Lists played through the sandbox before they are sent, and what that
-- foretold: figures only, no number and no text. One at a time a person.
create table rehearsal (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  campaign_id integer not null,
  name text not null,
  user_id integer not null,
  user_name text not null,
  kind text not null,
  state text not null,
  all_rows integer not null,
  row_count integer not null,
  done integer not null,
  created_at integer not null,
  started_at integer not null,
  ended_at integer not null,
  result text not null
);
create unique index rehearsal_open on rehearsal (user_id) where state in ('waiting', 'running');
create index rehearsal_campaign on rehearsal (campaign_id, id);
create index rehearsal_created on rehearsal (created_at);

-- +goose Down
drop table rehearsal;
