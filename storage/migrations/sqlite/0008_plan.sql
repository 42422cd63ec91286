-- +goose Up
alter table account add column abroad integer not null default false;
alter table account add column hours_from integer not null default 0;
alter table account add column hours_to integer not null default 0;
alter table account add column type_above integer not null default 5000;

alter table campaign add column list_id integer not null default 0;
alter table campaign add column calls_text integer not null default 0;
alter table campaign add column calls_pairs integer not null default 0;
alter table campaign add column urgent integer not null default false;
alter table campaign add column hand_over integer not null default false;

alter table message add column call_no integer not null default 0;
drop index message_queued;
create index message_queued on message (campaign_id, call_no, id) where state = 'queued';
create index message_draft on message (campaign_id, call_no, id) where state = 'draft';

-- +goose Down
drop index message_draft;
drop index message_queued;
create index message_queued on message (campaign_id, id) where state = 'queued';
alter table message drop column call_no;
alter table campaign drop column hand_over;
alter table campaign drop column urgent;
alter table campaign drop column calls_pairs;
alter table campaign drop column calls_text;
alter table campaign drop column list_id;
alter table account drop column type_above;
alter table account drop column hours_to;
alter table account drop column hours_from;
alter table account drop column abroad;
