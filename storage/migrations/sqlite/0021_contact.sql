-- +goose Up
alter table blocked add column proof text not null default '';
alter table blocked add column message_id integer not null default 0;

create table contact (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  number text not null,
  name text not null,
  fields text not null,
  tags text not null,
  source text not null,
  by_id integer not null,
  by_name text not null,
  created_at integer not null,
  changed_at integer not null
);
create unique index contact_number on contact (account_id, number);
create index contact_newest on contact (account_id, id);

-- What the columns of contacts are called, in the order in which they came.
create table contact_column (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  key text not null,
  name text not null
);
create unique index contact_column_key on contact_column (account_id, key);

-- The values of one column of some contacts in a row, packed, for filters and
-- searches; a block that is stale is read from the contacts themselves.
create table contact_block (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  block integer not null,
  key text not null,
  n integer not null,
  body blob not null
);
create unique index contact_block_place on contact_block (account_id, block, key);
create table contact_stale (
  account_id integer not null references account(id),
  block integer not null,
  primary key (account_id, block)
) without rowid;

create table audience (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  name text not null,
  kind text not null,
  filter text not null,
  version integer not null,
  by_id integer not null,
  by_name text not null,
  created_at integer not null,
  changed_at integer not null
);
create unique index audience_name on audience (account_id, name);
create table audience_member (
  audience_id integer not null references audience(id),
  contact_id integer not null,
  primary key (audience_id, contact_id)
) without rowid;
create index audience_member_contact on audience_member (contact_id);

alter table list add column purpose text not null default '';

alter table account add column hours_week text not null default '';
alter table account add column cap_messages integer not null default 0;
alter table account add column cap_days integer not null default 0;
alter table account add column day_most integer not null default 0;
alter table account add column person_most integer not null default 0;
alter table account add column person_day_most integer not null default 0;

-- +goose Down
alter table account drop column person_day_most;
alter table account drop column person_most;
alter table account drop column day_most;
alter table account drop column cap_days;
alter table account drop column cap_messages;
alter table account drop column hours_week;
alter table list drop column purpose;
drop table audience_member;
drop table audience;
drop table contact_stale;
drop table contact_block;
drop table contact_column;
drop table contact;
alter table blocked drop column message_id;
alter table blocked drop column proof;
