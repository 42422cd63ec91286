-- +goose Up
-- The dispatch journal's side of the database (storage/README.md). A node is
-- one data folder; times are milliseconds and shown only.
create table journal_head (
  node text primary key,
  generation integer not null,
  seq integer not null,
  sum text not null,
  at integer not null
) without rowid;

-- Lines that the database has committed and the journal may lack still.
create table journal_line (
  node text not null,
  seq integer not null,
  line text not null,
  primary key (node, seq)
) without rowid;

-- Sends that the journal knows of and this copy of the database does not.
-- hash stands for a number and a text.
create table remembered (
  hash blob not null,
  campaign_uid text not null,
  account_uid text not null,
  test integer not null,
  licensed_at integer not null,
  accepted_at integer not null,
  primary key (hash, campaign_uid)
) without rowid;
create index remembered_by on remembered (campaign_uid);

create table remembered_campaign (
  uid text primary key,
  name text not null,
  started_name text not null,
  first_at integer not null,
  last_at integer not null,
  messages integer not null,
  doubtful integer not null
) without rowid;

-- An accepted question about an older state. known_until is the clock of the
-- last request that the journal knows of, 0 where it knows of none.
create table journal_gap (
  id integer primary key autoincrement,
  relation text not null,
  sentence text not null,
  copy_at integer not null,
  known_until integer not null,
  messages integer not null,
  doubtful integer not null,
  campaigns integer not null,
  accepted_at integer not null,
  accepted_by text not null,
  closes_at integer not null,
  closed_by text not null
);

alter table attempt add column journal_seq integer not null default 0;
alter table campaign add column include_sent integer not null default false;

-- A program that knows nothing of the journal's lines cannot license a call.
-- -1 stands for attempts that accepting an older state makes.
-- +goose StatementBegin
create trigger attempt_journal before update of state on attempt
when new.state = 'sending' and old.state <> 'sending' and new.journal_seq <> -1
  and not exists (select 1 from journal_line where seq = new.journal_seq)
begin
  select raise(abort, 'a licence without its line for the journal');
end;
-- +goose StatementEnd

-- +goose Down
drop trigger attempt_journal;
alter table campaign drop column include_sent;
alter table attempt drop column journal_seq;
drop table journal_gap;
drop table remembered_campaign;
drop table remembered;
drop table journal_line;
drop table journal_head;
