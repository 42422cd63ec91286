-- +goose Up
-- Accepted messages whose last report is the interim ACCEPTD are counted apart
-- from those without any; both stay in their standing's own count.
insert into campaign_tally (campaign_id, key, n)
select campaign_id, 'acceptd', count(*) from message where state = 'accepted' and status = 'ACCEPTD' group by campaign_id;

-- +goose Down
delete from campaign_tally where key = 'acceptd';
