-- +goose Up
-- A session that is over is remembered for a day: whoever was signed in gets
-- back what they sent after its end.
alter table session add column ended integer not null default false;

-- +goose Down
alter table session drop column ended;
