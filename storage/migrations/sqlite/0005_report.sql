-- +goose Up
create table delivery_report (
  id integer primary key autoincrement,
  account_id integer not null,
  inbox_id integer not null,
  received_at integer not null,
  last_at integer not null,
  times integer not null,
  provider_id text not null,
  mobile text not null,
  status text not null,
  error_code text not null,
  submit_date text not null,
  done_date text not null,
  short_message text not null,
  raw text not null,
  message_id integer not null,
  effect text not null
);
create unique index delivery_report_event on delivery_report (account_id, provider_id, mobile, status, error_code, done_date);
create index delivery_report_last on delivery_report (account_id, last_at);
create index delivery_report_message on delivery_report (message_id) where message_id > 0;
create index delivery_report_unmatched on delivery_report (account_id, provider_id) where effect = 'not_matched';
create index delivery_report_waiting on delivery_report (account_id, id) where effect = 'not_matched';

create table inbox_cursor (
  name text primary key,
  position integer not null
) without rowid;

-- +goose Down
drop table inbox_cursor;
drop table delivery_report;
