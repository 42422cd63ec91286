-- +goose Up
alter table campaign add column name_key text not null default '';
create table campaign_gram (
  gram text not null,
  campaign_id integer not null references campaign(id) on delete cascade,
  primary key (gram, campaign_id)
) without rowid;
create index campaign_keyless on campaign (id) where name_key = '' and name <> '';
create index campaign_gram_campaign on campaign_gram (campaign_id);

-- +goose Down
drop table campaign_gram;
drop index campaign_keyless;
alter table campaign drop column name_key;
