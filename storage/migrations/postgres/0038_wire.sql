-- +goose Up
-- send_by_get: one text goes by GET /SendSMS instead of POST (§4.3). take_posts:
-- reports that come by POST are stored like those that come by GET (§6.1).
alter table account add column send_by_get boolean not null default false;
alter table account add column take_posts boolean not null default false;

-- Reports that came by POST and were turned away.
alter table receiver_minute add column posted bigint not null default 0;
create index receiver_posted on receiver_minute (account_id, minute) where posted > 0;

-- +goose Down
drop index receiver_posted;
alter table receiver_minute drop column posted;
alter table account drop column take_posts;
alter table account drop column send_by_get;
