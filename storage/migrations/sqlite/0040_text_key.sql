-- +goose Up
-- text_key: sms.TemplateKey of a campaign's text; 0 until it is known, 1 where
-- each message has a text of its own.
alter table campaign add column text_key integer not null default 0;
create index campaign_text_key on campaign (account_id, text_key, started_at) where started_at > 0;
create index campaign_no_text_key on campaign (id) where text_key = 0;
alter table list add column comparing integer not null default false;
drop index campaign_fingerprint;
drop table campaign_sketch;

-- +goose Down
create table campaign_sketch (
  campaign_id integer primary key references campaign(id),
  sketch blob not null
);
create index campaign_fingerprint on campaign (account_id, fingerprint, started_at);
alter table list drop column comparing;
drop index campaign_no_text_key;
drop index campaign_text_key;
alter table campaign drop column text_key;
