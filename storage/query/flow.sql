-- name: AddFlow :exec
insert into campaign_flow (campaign_id, at, sent, delivered, failed, unsure) values ($1, $2, $3, $4, $5, $6)
on conflict (campaign_id, at) do update set sent = campaign_flow.sent + excluded.sent, delivered = campaign_flow.delivered + excluded.delivered,
  failed = campaign_flow.failed + excluded.failed, unsure = campaign_flow.unsure + excluded.unsure;

-- name: AddWait :exec
insert into campaign_wait (campaign_id, network, key, low, n) values ($1, $2, $3, $4, $5)
on conflict (campaign_id, network, key, low) do update set n = campaign_wait.n + excluded.n;

-- name: CampaignFlow :many
select at, sent, delivered, failed, unsure from campaign_flow where campaign_id = $1 order by at;

-- name: CampaignWaits :many
select network, key, low, n from campaign_wait where campaign_id = $1 and n <> 0 order by network, key, low;

-- name: AccountWaits :many
select w.network, w.key, w.low, cast(sum(w.n) as bigint) as n from campaign c join campaign_wait w on w.campaign_id = c.id
where c.account_id = $1 and c.started_at > 0 and c.started_at >= $3 and c.id <> $2 group by w.network, w.key, w.low;

-- name: NextToFold :one
select id, started_at from campaign where started_at > $1 and started_at < $2 order by started_at, id limit 1;

-- name: CountFlow :one
select count(*) from campaign_flow where campaign_id = $1;

-- name: FoldFlow :exec
insert into campaign_flow (campaign_id, at, sent, delivered, failed, unsure)
select f.campaign_id, f.at - f.at % 60000, cast(sum(f.sent) as bigint), cast(sum(f.delivered) as bigint), cast(sum(f.failed) as bigint), cast(sum(f.unsure) as bigint)
from campaign_flow f where f.campaign_id = $1 and f.at % 60000 <> 0 group by f.campaign_id, f.at - f.at % 60000
on conflict (campaign_id, at) do update set sent = campaign_flow.sent + excluded.sent, delivered = campaign_flow.delivered + excluded.delivered,
  failed = campaign_flow.failed + excluded.failed, unsure = campaign_flow.unsure + excluded.unsure;

-- name: DeleteFolded :exec
delete from campaign_flow where campaign_id = $1 and at % 60000 <> 0;
