-- +goose Up
create table attempt (
  id integer primary key autoincrement,
  uid text not null unique,
  account_id integer not null references account(id),
  campaign_id integer not null references campaign(id),
  epoch integer not null,
  state text not null,
  canary integer not null,
  kind text not null,
  sender_id text not null,
  text text not null,
  unicode integer not null,
  flash integer not null,
  group_id text not null,
  recipients integer not null,
  accepted integer not null,
  class text not null,
  http_status integer not null,
  code text not null,
  reason text not null,
  excerpt text not null,
  written integer not null,
  prepared_at integer not null,
  licensed_at integer not null,
  ended_at integer not null
);
create index attempt_ended on attempt (campaign_id, ended_at, id);
create index attempt_open on attempt (account_id, id) where state in ('prepared', 'sending');
create index attempt_licensed on attempt (account_id, licensed_at);

create index attempt_rate on attempt (account_id, ended_at) where class = 'C';

create table message (
  id integer primary key autoincrement,
  account_id integer not null,
  campaign_id integer not null references campaign(id),
  row_no integer not null,
  number text not null,
  text text not null,
  text_hash blob not null,
  unicode integer not null,
  parts integer not null,
  state text not null,
  reason text not null,
  code text not null,
  attempt_id integer not null,
  provider_id text not null,
  evidence text not null,
  status text not null,
  error_code text not null,
  done_date text not null,
  conflict integer not null,
  late integer not null,
  created_at integer not null,
  sent_at integer not null,
  changed_at integer not null
);
create index message_campaign on message (campaign_id, id);
create index message_queued on message (campaign_id, id) where state = 'queued';
create index message_provider on message (account_id, provider_id) where provider_id <> '';
create index message_awaiting on message (account_id, sent_at) where state = 'accepted' and late = false and status in ('', 'ACCEPTD', 'UNKNOWN');

create table message_alias (
  account_id integer not null,
  provider_id text not null,
  message_id integer not null references message(id),
  primary key (account_id, provider_id, message_id)
) without rowid;
create index message_alias_message on message_alias (message_id);

create table attempt_message (
  attempt_id integer not null references attempt(id),
  message_id integer not null references message(id),
  primary key (attempt_id, message_id)
) without rowid;
create index attempt_message_message on attempt_message (message_id);

create table in_flight (
  account_id integer not null,
  number text not null,
  text_hash blob not null,
  message_id integer not null references message(id),
  primary key (account_id, number, text_hash)
) without rowid;
create unique index in_flight_message on in_flight (message_id);

create table journal_accepted (
  uid text primary key,
  accepted_at integer not null
) without rowid;

-- The transition table of internal/sms/message.go, held by the engine too:
-- a test compares the two.
create table transition (
  from_state text not null,
  to_state text not null,
  primary key (from_state, to_state)
) without rowid;
insert into transition (from_state, to_state) values
  ('draft', 'queued'), ('draft', 'cancelled'), ('draft', 'skipped'),
  ('queued', 'claimed'), ('queued', 'cancelled'), ('queued', 'skipped'),
  ('claimed', 'sending'), ('claimed', 'queued'),
  ('sending', 'accepted'), ('sending', 'refused'), ('sending', 'in_doubt'), ('sending', 'held'), ('sending', 'queued'),
  ('in_doubt', 'accepted'), ('in_doubt', 'closed_unknown'), ('in_doubt', 'closed_resent'),
  ('held', 'queued'), ('held', 'closed_unknown'), ('held', 'cancelled');

-- +goose StatementBegin
create trigger message_transition before update of state on message
when new.state <> old.state and (
  not exists (select 1 from transition where from_state = old.state and to_state = new.state)
  or (old.state = 'sending' and new.state = 'queued'
      and coalesce((select class from attempt where id = old.attempt_id), '') not in ('P', 'C', 'C''')))
begin
  select raise(abort, 'forbidden message transition');
end;
-- +goose StatementEnd

-- +goose Down
drop table transition;
drop table journal_accepted;
drop table in_flight;
drop table attempt_message;
drop table message_alias;
drop table message;
drop table attempt;
