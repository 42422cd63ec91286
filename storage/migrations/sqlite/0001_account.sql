-- +goose Up
create table account (
  id integer primary key autoincrement,
  uid text not null unique,
  name text not null unique,
  base_url text not null,
  client_id blob not null,
  api_key blob not null,
  key_hint text not null,
  test integer not null,
  per_minute integer not null,
  call_limit integer not null,
  url_budget integer not null,
  max_parts integer not null,
  price_per_part integer not null,
  country text not null,
  timezone text not null,
  currency text not null,
  default_sender text not null,
  late_after integer not null,
  hold_on_429 integer not null,
  doubt_429 integer not null,
  pause text not null,
  pause_code text not null,
  reached_at integer not null,
  failed_at integer not null,
  failure text not null,
  epoch integer not null,
  created_at integer not null,
  changed_at integer not null
);

create table callback_token (
  hash blob primary key,
  account_id integer not null references account(id),
  kind text not null,
  sealed blob not null,
  created_at integer not null,
  valid_until integer not null
) without rowid;

create table sender_id (
  account_id integer not null references account(id),
  id integer not null,
  company_id integer not null,
  text text not null,
  purpose text not null,
  is_active integer not null,
  approve_status text not null,
  created_date text not null,
  approved_date text not null,
  read_at integer not null,
  primary key (account_id, id)
) without rowid;

create table balance (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  plugin_type text not null,
  credits text not null,
  since integer not null,
  read_at integer not null
);
create index balance_latest on balance (account_id, plugin_type, id);

create table setting (
  name text primary key,
  value text not null
) without rowid;

-- +goose Down
drop table setting;
drop table balance;
drop table sender_id;
drop table callback_token;
drop table account;
