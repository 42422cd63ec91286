-- +goose Up
-- What became of accepted messages, by when they left: a slot is ten minutes.
create table traffic (
  account_id bigint not null,
  slot bigint not null,
  network text not null,
  sender_id text not null,
  key text not null,
  n bigint not null,
  primary key (account_id, slot, network, sender_id, key)
);

-- The same by quarters of an hour, without network and sender ID: days of any
-- time zone are made of them.
create table traffic_quarter (
  account_id bigint not null,
  quarter bigint not null,
  key text not null,
  n bigint not null,
  primary key (account_id, quarter, key)
);

-- A campaign's messages by network and by reason, its reports by minute.
create table campaign_cut (
  campaign_id bigint not null,
  kind text not null,
  name text not null,
  key text not null,
  n bigint not null,
  primary key (campaign_id, kind, name, key)
);

create index campaign_paused on campaign (account_id, id) where state = 'paused';
create index campaign_scheduled on campaign (account_id, send_at, id) where state = 'scheduled';

-- +goose Down
drop index campaign_scheduled;
drop index campaign_paused;
drop table campaign_cut;
drop table traffic_quarter;
drop table traffic;
