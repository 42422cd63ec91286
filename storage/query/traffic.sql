-- name: AddTraffic :exec
insert into traffic (account_id, slot, network, sender_id, key, n) values ($1, $2, $3, $4, $5, $6)
on conflict (account_id, slot, network, sender_id, key) do update set n = traffic.n + excluded.n;

-- name: AddQuarter :exec
insert into traffic_quarter (account_id, quarter, key, n) values ($1, $2, $3, $4)
on conflict (account_id, quarter, key) do update set n = traffic_quarter.n + excluded.n;

-- name: AddCut :exec
insert into campaign_cut (campaign_id, kind, name, key, n) values ($1, $2, $3, $4, $5)
on conflict (campaign_id, kind, name, key) do update set n = campaign_cut.n + excluded.n;

-- name: Traffic :many
select slot, network, sender_id, key, n from traffic where account_id = $1 and slot >= $2 and n <> 0 order by slot;

-- name: TrafficQuarters :many
select quarter, key, n from traffic_quarter where account_id = $1 and quarter >= $2 and n <> 0 order by quarter;

-- name: CampaignCuts :many
select kind, name, key, n from campaign_cut where campaign_id = $1 and kind = $2 and n <> 0 order by name, key;

-- name: CampaignSender :one
select sender_id, started_at from campaign where id = $1;

-- name: ComingUp :many
select id from campaign where account_id = $1 and state in ('scheduled', 'awaiting_approval') and send_at > 0
order by send_at, id limit $2;

-- name: PausedCampaigns :many
select id from campaign where account_id = $1 and state = 'paused' order by id desc limit $2;

-- name: BusyCampaigns :many
select id from campaign where account_id = $1 and state = 'running' order by id desc limit $2;
