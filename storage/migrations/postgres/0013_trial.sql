-- +goose Up
alter table campaign add column test_of bigint not null default 0;
alter table app_user add column test_number text not null default '';

-- +goose Down
alter table app_user drop column test_number;
alter table campaign drop column test_of;
