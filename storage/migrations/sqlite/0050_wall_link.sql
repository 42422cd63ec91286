-- +goose Up
-- Links to a campaign's wall screen, for whoever holds one. The secret is not kept.
create table wall_link (
  id integer primary key autoincrement,
  campaign_id integer not null references campaign(id),
  hash blob not null unique,
  made_by integer not null,
  made_name text not null,
  made_at integer not null,
  revoked_at integer not null
);
create index wall_link_campaign on wall_link (campaign_id, id);

-- +goose Down
drop table wall_link;
