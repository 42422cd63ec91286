-- +goose Up
-- Who cancelled a campaign; 0: nobody, or before this was kept. The name stands
-- in pause, and a name can change.
alter table campaign add column cancelled_by integer not null default 0;

-- +goose Down
alter table campaign drop column cancelled_by;
