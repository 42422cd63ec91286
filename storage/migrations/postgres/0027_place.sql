-- +goose Up
-- When a call ended by the clock that nobody can set, for a rate limiter that
-- starts again: the start of the computer and ms since then. 0: not known.
alter table attempt add column boot bigint not null default 0;
alter table attempt add column ended_steady bigint not null default 0;
create index attempt_account on attempt (account_id, id);

-- One row for each account that was opened: from when calls of before are
-- reckoned, what the last answer 429 left in force, and what time it was for
-- the service at the last answer. boot 0: begin anew, all places are taken.
create table account_rate (
  account_id bigint primary key references account(id),
  boot bigint not null,
  since bigint not null,
  taken boolean not null,
  wait bigint not null,
  wait_until bigint not null,
  lowered bigint not null,
  lowered_at bigint not null
);

create table account_clock (
  account_id bigint primary key references account(id),
  boot bigint not null,
  steady bigint not null,
  service_at bigint not null,
  read_at bigint not null
);

-- +goose Down
drop table account_clock;
drop table account_rate;
drop index attempt_account;
alter table attempt drop column ended_steady;
alter table attempt drop column boot;
