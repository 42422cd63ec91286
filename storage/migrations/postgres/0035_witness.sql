-- +goose Up
-- How far the journal was at a reading of the balance, and at the one before:
-- requests behind it can have been charged since. -1: read by a process that
-- sends nothing, or belongs to another history of this desk.
alter table balance add column seq bigint not null default 0;
alter table balance add column seq_before bigint not null default 0;
-- Others send from the account, too: a fall of its balance tells nothing.
alter table record_setting add column others_send boolean not null default false;

-- +goose Down
alter table record_setting drop column others_send;
alter table balance drop column seq_before;
alter table balance drop column seq;
