-- +goose Up
alter table campaign add column again_of integer not null default 0;
create index campaign_again on campaign (again_of) where again_of > 0;

-- The standing of a message, within its campaign: pages of one state.
create index message_standing on message (campaign_id, state, status, late, id);

-- The last ten digits of a number, from the end: people know the last ones.
create index message_tail on message (account_id, (substr('0000000000' || number, length(number) + 10, 1) || substr('0000000000' || number, length(number) + 9, 1) || substr('0000000000' || number, length(number) + 8, 1) || substr('0000000000' || number, length(number) + 7, 1) || substr('0000000000' || number, length(number) + 6, 1) || substr('0000000000' || number, length(number) + 5, 1) || substr('0000000000' || number, length(number) + 4, 1) || substr('0000000000' || number, length(number) + 3, 1) || substr('0000000000' || number, length(number) + 2, 1) || substr('0000000000' || number, length(number) + 1, 1)), id) where number <> '';

-- Which campaigns have messages of one standing at all.
create index campaign_tally_some on campaign_tally (key, campaign_id) where n > 0;

-- +goose Down
drop index campaign_tally_some;
drop index message_tail;
drop index message_standing;
drop index campaign_again;
alter table campaign drop column again_of;
