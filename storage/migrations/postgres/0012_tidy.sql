-- +goose Up
alter table campaign add column untidy boolean not null default false;
create index campaign_untidy on campaign (id) where untidy = true;
create index campaign_draft on campaign (changed_at) where state = 'draft';

-- +goose Down
drop index campaign_draft;
drop index campaign_untidy;
alter table campaign drop column untidy;
