-- +goose Up
-- When what is known of a message came: the report that says so, by our clock,
-- or the day it was called late. 0 without either.
alter table message add column known_at bigint not null default 0;
update message set known_at = coalesce((select min(r.received_at) from delivery_report r
  where r.message_id = message.id and r.message_id > 0 and r.effect = 'changed' and upper(r.status) = message.status), changed_at)
where state = 'accepted' and (late = true or status not in ('', 'ACCEPTD'));

-- What became of a campaign's messages by the second, or after a day by the
-- minute: those that left, and of them what is known since then.
create table campaign_flow (
  campaign_id bigint not null,
  at bigint not null,
  sent bigint not null,
  delivered bigint not null,
  failed bigint not null,
  unsure bigint not null,
  primary key (campaign_id, at)
);

-- How long the final reports took, by network and in the steps of
-- internal/picture: low is a step's lower edge in seconds.
create table campaign_wait (
  campaign_id bigint not null,
  network text not null,
  key text not null,
  low bigint not null,
  n bigint not null,
  primary key (campaign_id, network, key, low)
);

-- +goose Down
drop table campaign_wait;
drop table campaign_flow;
alter table message drop column known_at;
