-- +goose Up
create table record_reading (
  account_id integer not null references account(id),
  kind text not null,
  read_at integer not null,
  failure text not null,
  primary key (account_id, kind)
) without rowid;
insert into record_reading (account_id, kind, read_at, failure) select account_id, 'templates', read_at, failure from template_reading;
drop table template_reading;

create table provider_group (
  account_id integer not null references account(id),
  id integer not null,
  name text not null,
  contact_count integer not null,
  made_here integer not null,
  parent_id integer not null,
  primary key (account_id, id)
) without rowid;

create table group_made (
  account_id integer not null references account(id),
  name text not null,
  parent_id integer not null,
  made_at integer not null,
  primary key (account_id, name)
) without rowid;

create table template_draft (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  name text not null,
  text text not null,
  changed_name text not null,
  changed_at integer not null
);
create index template_draft_account on template_draft (account_id, name, id);

create table campaign_template (
  campaign_id integer not null primary key references campaign(id) on delete cascade,
  account_id integer not null,
  template_id integer not null,
  name text not null,
  text text not null,
  made_at integer not null
) without rowid;
create index campaign_template_used on campaign_template (account_id, template_id, campaign_id);

create table record_setting (
  account_id integer not null primary key references account(id),
  creates integer not null,
  warn_below integer not null,
  floor integer not null,
  mail_to text not null
) without rowid;

create table usage_day (
  account_id integer not null references account(id),
  day text not null,
  sender_id text not null,
  user_id integer not null,
  network text not null,
  messages integer not null,
  parts integer not null,
  primary key (account_id, day, sender_id, user_id, network)
) without rowid;

create table campaign_usage (
  campaign_id integer not null references campaign(id) on delete cascade,
  network text not null,
  messages integer not null,
  parts integer not null,
  primary key (campaign_id, network)
) without rowid;

create table balance_alarm (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  kind text not null,
  plugin_type text not null,
  at integer not null,
  from_at integer not null,
  before text not null,
  after text not null,
  mailed integer not null,
  seen_name text not null,
  seen_at integer not null
);
create index balance_alarm_open on balance_alarm (account_id, id) where seen_at = 0;
create index balance_alarm_mail on balance_alarm (id) where mailed = false;

-- +goose Down
drop table balance_alarm;
drop table campaign_usage;
drop table usage_day;
drop table record_setting;
drop table campaign_template;
drop table template_draft;
drop table group_made;
drop table provider_group;
create table template_reading (
  account_id integer not null primary key references account(id),
  read_at integer not null,
  failure text not null
) without rowid;
insert into template_reading (account_id, read_at, failure) select account_id, read_at, failure from record_reading where kind = 'templates';
drop table record_reading;
