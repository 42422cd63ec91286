-- name: AddUsageDay :exec
insert into usage_day (account_id, day, sender_id, user_id, network, messages, parts) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (account_id, day, sender_id, user_id, network) do update set messages = usage_day.messages + excluded.messages, parts = usage_day.parts + excluded.parts;

-- name: AddCampaignUsage :exec
insert into campaign_usage (campaign_id, network, messages, parts) values ($1, $2, $3, $4)
on conflict (campaign_id, network) do update set messages = campaign_usage.messages + excluded.messages, parts = campaign_usage.parts + excluded.parts;

-- name: CampaignUsage :many
select network, messages, parts from campaign_usage where campaign_id = $1 order by parts desc, network;

-- name: UsageDays :many
select u.day, u.sender_id, u.user_id, coalesce(p.name, '') as user_name, u.network, u.messages, u.parts
from usage_day u left join app_user p on p.id = u.user_id
where u.account_id = $1 and u.day >= $2 and u.day <= $3
order by u.day, u.sender_id, u.user_id, u.network;

-- name: SenderLastUse :many
select sender_id, cast(max(day) as text) as day from usage_day where account_id = $1 group by sender_id;

-- name: AcceptedOf :many
select number, parts from message where id in (select am.message_id from attempt_message am where am.attempt_id = $1) and state = 'accepted';

-- name: BalanceHistory :many
select * from balance where account_id = $1 and plugin_type = $2 and read_at >= $3 order by id limit 20000;

-- name: LastBalanceAt :one
select * from balance where account_id = $1 and plugin_type = $2 and since <= $3 order by since desc, id desc limit 1;

-- name: FirstBalanceFrom :one
select * from balance where account_id = $1 and plugin_type = $2 and read_at >= $3 order by id limit 1;

-- name: LicencesBetween :many
select distinct campaign_id from attempt where account_id = $1 and licensed_at >= $2 and licensed_at <= $3 limit 3;

-- name: HandedOverBetween :one
select count(*) from campaign where account_id = $1 and started_at > 0 and hand_over = true and send_at >= $2 and send_at <= $3;

-- name: LatestFinished :many
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id
where c.account_id = $1 and c.started_at > 0 and c.started_at > $2 and c.state in ('finished', 'cancelled')
order by c.started_at desc limit 200;

-- name: InsertAlarm :one
insert into balance_alarm (account_id, kind, plugin_type, at, from_at, before, after, mailed, seen_name, seen_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, '', 0) returning id;

-- name: OpenAlarms :many
select * from balance_alarm where account_id = $1 and seen_at = 0 order by id desc limit 20;

-- name: SeeAlarms :execrows
update balance_alarm set seen_name = $3, seen_at = $4 where account_id = $1 and id <= $2 and seen_at = 0;

-- name: UnmailedAlarms :many
select * from balance_alarm where mailed = false order by id limit 20;

-- name: AlarmMailed :exec
update balance_alarm set mailed = true where id = $1;

-- name: BalanceOn :one
select * from balance where account_id = $1 and plugin_type = $2 and since < $3 order by since desc, id desc limit 1;
