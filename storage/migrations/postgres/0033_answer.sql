-- +goose Up
-- Answers of the provider that the log of reports holds and this database did
-- not store: ids that it gave, by campaign and by the hash of number and text.
create table answer (
  account_id bigint not null,
  campaign_uid text not null,
  hash bytea not null,
  provider_id text not null,
  aliases text not null,
  at bigint not null,
  primary key (account_id, campaign_uid, hash, provider_id)
);

-- +goose Down
drop table answer;
