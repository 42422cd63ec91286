-- name: MessageFrom :one
select * from message where campaign_id = $1 and id >= $2 order by id limit 1;

-- name: LastMessage :one
select * from message where campaign_id = $1 order by id desc limit 1;

-- name: FirstDraft :one
select * from message where campaign_id = $1 and state = 'draft' order by call_no, id limit 1;

-- name: DraftLengths :many
select row_no, parts, unicode, text from message where campaign_id = $1 and state = 'draft' order by call_no, id limit $2;

-- name: LastBlocked :one
select since from blocked where account_id = $1 order by id desc limit 1;

-- name: BlockedDrafts :one
select count(*) as messages, cast(coalesce(sum(d.parts), 0) as bigint) as parts
from (select m.account_id, m.number, m.parts from message m where m.campaign_id = $1 and m.state = 'draft' order by m.call_no, m.id limit $2) d
join blocked b on b.account_id = d.account_id and b.number = d.number;

-- name: CountLicences :one
select count(*) from attempt where account_id = $1 and licensed_at > $2 and campaign_id = $3;

-- name: LastRateAnswer :one
select ended_at from attempt where account_id = $1 and class = 'C' and ended_at > $2 order by ended_at desc limit 1;
