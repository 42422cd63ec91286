-- +goose Up
alter table delivery_report add column match_key text not null default '';
alter table delivery_report add column suspicious integer not null default false;
create index delivery_report_number on delivery_report (account_id, match_key, provider_id, id) where effect = 'not_matched';
create index delivery_report_page on delivery_report (account_id, id);
create index delivery_report_again on delivery_report (account_id, id) where times > 1;
create index delivery_report_suspicious on delivery_report (account_id, id) where suspicious = true;

-- Messages that wait for a decision, by call and by account; those that came
-- out of doubt without an answer; accepted ones whose report is late.
create index message_decision on message (campaign_id, attempt_id, id) where state in ('in_doubt', 'held');
create index message_doubt on message (account_id, id) where state = 'in_doubt';
create index message_evidence on message (account_id, number, sent_at) where evidence <> '';
create index message_late on message (account_id, sent_at, id) where state = 'accepted' and late = true and status in ('', 'ACCEPTD', 'UNKNOWN');
create index message_silent on message (account_id, sent_at, id) where state = 'accepted' and late = false and status in ('', 'ACCEPTD', 'UNKNOWN');
drop index message_awaiting;

-- Questions to the service what became of a message, and their answers.
create table asked (
  id integer primary key autoincrement,
  account_id integer not null,
  message_id integer not null references message(id),
  provider_id text not null,
  why text not null,
  inquiry_id integer not null,
  created_at integer not null,
  asked_at integer not null,
  number text not null,
  status text not null,
  error_code text not null,
  done_date text not null,
  raw text not null,
  code text not null,
  words text not null,
  effect text not null
);
create index asked_waiting on asked (account_id, id) where asked_at = 0;
create index asked_message on asked (message_id, id);

-- The service is asked about the messages without a report since a gap.
create table inquiry (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  from_at integer not null,
  until_at integer not null,
  state text not null,
  total integer not null,
  asked integer not null,
  learnt integer not null,
  cursor_at integer not null,
  cursor_id integer not null,
  by_id integer not null,
  by_name text not null,
  started_at integer not null,
  ended_at integer not null
);
create index inquiry_running on inquiry (account_id, id) where state = 'running';
create unique index inquiry_gap on inquiry (account_id, from_at);

-- When callbacks were answered: what lies between two rows is a gap.
create table receiver_span (
  id integer primary key autoincrement,
  from_at integer not null,
  until_at integer not null
);

-- What the receiver did, by minute; account 0 holds the calls with a wrong token.
create table receiver_minute (
  account_id integer not null,
  minute integer not null,
  answered integer not null,
  refused integer not null,
  lost integer not null,
  took text not null,
  primary key (account_id, minute)
) without rowid;
create index receiver_refused on receiver_minute (minute) where refused > 0;

-- What people decided about messages in doubt, and what waits for a second person.
create table decision (
  id integer primary key autoincrement,
  account_id integer not null,
  campaign_id integer not null references campaign(id),
  state text not null,
  n integer not null,
  choices text not null,
  by_id integer not null,
  by_name text not null,
  at integer not null,
  second_id integer not null,
  second_name text not null,
  decided_at integer not null
);
create index decision_campaign on decision (campaign_id, id);

-- Messages in doubt and the new ones that a person made instead.
create table resend (
  message_id integer primary key references message(id),
  successor_id integer not null references message(id) on delete cascade,
  campaign_id integer not null references campaign(id)
) without rowid;
create index resend_campaign on resend (campaign_id, message_id);
create unique index resend_successor on resend (successor_id);

-- +goose Down
drop table resend;
drop table decision;
drop table receiver_minute;
drop table receiver_span;
drop table inquiry;
drop table asked;
create index message_awaiting on message (account_id, sent_at) where state = 'accepted' and late = false and status in ('', 'ACCEPTD', 'UNKNOWN');
drop index message_silent;
drop index message_late;
drop index message_evidence;
drop index message_doubt;
drop index message_decision;
drop index delivery_report_suspicious;
drop index delivery_report_again;
drop index delivery_report_page;
drop index delivery_report_number;
alter table delivery_report drop column suspicious;
alter table delivery_report drop column match_key;
