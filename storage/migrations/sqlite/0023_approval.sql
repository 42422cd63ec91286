-- +goose Up
-- approve_above: campaigns with more recipients need a second person's yes;
-- 0: none do.
alter table account add column approve_above integer not null default 0;

alter table campaign add column asked_by integer not null default 0;
alter table campaign add column asked_name text not null default '';
alter table campaign add column asked_at integer not null default 0;
alter table campaign add column approved_by integer not null default 0;
alter table campaign add column approved_name text not null default '';
alter table campaign add column approved_at integer not null default 0;
alter table campaign add column returned text not null default '';
alter table campaign add column returned_by integer not null default 0;
alter table campaign add column returned_name text not null default '';
alter table campaign add column returned_at integer not null default 0;

-- The lists of campaigns, each read from its newest on. The one by state
-- serves the dispatcher too.
drop index campaign_running;
create index campaign_state on campaign (account_id, state, id);
create index campaign_sender on campaign (account_id, sender_id, id);
create index campaign_author on campaign (account_id, created_by, id);
create index campaign_starter on campaign (account_id, started_by, id);
create index campaign_trial on campaign (account_id, id) where test_of > 0;

-- +goose Down
drop index campaign_trial;
drop index campaign_starter;
drop index campaign_author;
drop index campaign_sender;
drop index campaign_state;
create index campaign_running on campaign (account_id, id) where state = 'running';
alter table campaign drop column returned_at;
alter table campaign drop column returned_name;
alter table campaign drop column returned_by;
alter table campaign drop column returned;
alter table campaign drop column approved_at;
alter table campaign drop column approved_name;
alter table campaign drop column approved_by;
alter table campaign drop column asked_at;
alter table campaign drop column asked_name;
alter table campaign drop column asked_by;
alter table account drop column approve_above;
