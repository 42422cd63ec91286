-- +goose Up
-- When what is known of a message came: the report that says so, by our clock,
-- or the day it was called late. 0 without either.
alter table message add column known_at integer not null default 0;
update message set known_at = coalesce((select min(r.received_at) from delivery_report r
  where r.message_id = message.id and r.message_id > 0 and r.effect = 'changed' and upper(r.status) = message.status), changed_at)
where state = 'accepted' and (late = true or status not in ('', 'ACCEPTD'));

-- What became of a campaign's messages by the second, or after a day by the
-- minute: those that left, and of them what is known since then.
create table campaign_flow (
  campaign_id integer not null,
  at integer not null,
  sent integer not null,
  delivered integer not null,
  failed integer not null,
  unsure integer not null,
  primary key (campaign_id, at)
) without rowid;

-- How long the final reports took, by network and in the steps of
-- internal/picture: low is a step's lower edge in seconds.
create table campaign_wait (
  campaign_id integer not null,
  network text not null,
  key text not null,
  low integer not null,
  n integer not null,
  primary key (campaign_id, network, key, low)
) without rowid;

-- +goose Down
drop table campaign_wait;
drop table campaign_flow;
alter table message drop column known_at;
