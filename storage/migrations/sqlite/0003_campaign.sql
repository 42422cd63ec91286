-- +goose Up
create table campaign (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  token text not null unique,
  name text not null,
  sender_id text not null,
  text text not null,
  unicode integer not null,
  flash integer not null,
  group_id text not null,
  group_name text not null,
  state text not null,
  pause text not null,
  pause_code text not null,
  canary text not null,
  version integer not null,
  recipients integer not null,
  parts integer not null,
  fingerprint text not null,
  window_from integer not null,
  created_by integer not null,
  created_name text not null,
  started_by integer not null,
  started_name text not null,
  created_at integer not null,
  started_at integer not null,
  finished_at integer not null,
  changed_at integer not null
);
create index campaign_account on campaign (account_id, id);
create index campaign_running on campaign (account_id, id) where state = 'running';
create index campaign_fingerprint on campaign (account_id, fingerprint, started_at);

create table campaign_tally (
  campaign_id integer not null references campaign(id),
  key text not null,
  n integer not null,
  primary key (campaign_id, key)
) without rowid;

-- +goose Down
drop table campaign_tally;
drop table campaign;
