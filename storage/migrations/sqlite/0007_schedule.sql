-- +goose Up
alter table campaign add column send_at integer not null default 0;
alter table campaign add column send_zone text not null default '';
alter table campaign add column send_offset integer not null default 0;
alter table campaign add column send_again integer not null default false;
create index campaign_due on campaign (send_at) where state = 'scheduled';

-- +goose Down
drop index campaign_due;
alter table campaign drop column send_again;
alter table campaign drop column send_offset;
alter table campaign drop column send_zone;
alter table campaign drop column send_at;
