-- name: FirstKept :one
select c.id from campaign c where c.finished_at > 0 and c.removed_at = 0 and c.finished_at < $1 and c.state in ('finished', 'cancelled')
  and not exists (select 1 from campaign_tally t where t.campaign_id = c.id and t.key in ('doubt', 'held', 'sending') and t.n > 0)
order by c.finished_at, c.id limit 1;

-- name: SomeNumbers :many
select id, number from message where campaign_id = $1 and id > $2 order by id limit $3;

-- name: SetRemoved :exec
update campaign set removed_at = $2, text = '' where id = $1;

-- name: DeleteCursor :exec
delete from inbox_cursor where name = $1;

-- name: SomeReports :many
select id, mobile, last_at from delivery_report where id > $1 order by id limit $2;

-- name: ForgetReport :exec
update delivery_report set mobile = $2, short_message = '', raw = '', match_key = '' where id = $1;

-- name: ForgetAsked :execrows
update asked set number = '', raw = '' where asked_at > 0 and asked_at < $1 and (number <> '' or raw <> '');

-- name: SomeCalls :many
select id, ended_at from attempt where id > $1 order by id limit $2;

-- name: ForgetCall :exec
update attempt set text = '', excerpt = '' where id = $1;

-- name: SomeEndedBlocks :many
select id from ended_block where ended_at < $1 order by ended_at, id limit $2;

-- name: DeleteEndedBlock :exec
delete from ended_block where id = $1;
