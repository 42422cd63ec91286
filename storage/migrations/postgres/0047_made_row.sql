-- +goose Up
-- A corrected cell can be the number of a row that was made of another one,
-- whose cell has several numbers: from_row is that row, 0 where it was not.
alter table list_correction add column from_row bigint not null default 0;

-- +goose Down
alter table list_correction drop column from_row;
