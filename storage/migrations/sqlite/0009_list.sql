-- +goose Up
create table list (
  id integer primary key autoincrement,
  uid text not null unique,
  token text not null unique,
  account_id integer not null references account(id),
  state text not null,
  problem text not null,
  version integer not null,
  file_name text not null,
  size integer not null,
  hash text not null,
  header_key text not null,
  reading text not null,
  choices text not null,
  tally text not null,
  checksum integer not null,
  again integer not null,
  done integer not null,
  total integer not null,
  campaign_id integer not null,
  created_by integer not null,
  created_name text not null,
  created_at integer not null,
  changed_at integer not null
);
create index list_recent on list (account_id, created_by, id);
create index list_busy on list (id) where state in ('checking', 'making');
create index list_changed on list (changed_at);

create table list_mapping (
  account_id integer not null references account(id),
  header_key text not null,
  choices text not null,
  changed_at integer not null,
  primary key (account_id, header_key)
) without rowid;

create table campaign_sketch (
  campaign_id integer primary key references campaign(id),
  sketch blob not null
);
create index campaign_started on campaign (account_id, started_at) where started_at > 0;
create index campaign_hidden on campaign (id) where state = 'hidden';

-- +goose Down
drop index campaign_hidden;
drop index campaign_started;
drop table campaign_sketch;
drop table list_mapping;
drop table list;
