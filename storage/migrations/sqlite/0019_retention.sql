-- +goose Up
-- When the numbers and texts of a campaign's messages were removed, 0 while
-- they are there.
alter table campaign add column removed_at integer not null default 0;
create index campaign_keeping on campaign (finished_at, id) where finished_at > 0 and removed_at = 0;

-- +goose Down
drop index campaign_keeping;
alter table campaign drop column removed_at;
