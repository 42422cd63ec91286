-- name: MatchReport :exec
update delivery_report set message_id = $2, effect = $3 where id = $1;

-- name: UnmatchedFor :many
select * from delivery_report where account_id = $1 and provider_id = $2 and effect = 'not_matched' order by id;

-- name: MessageReports :many
select * from delivery_report where message_id = $1 and message_id > 0 order by received_at, id;

-- name: LastReportAt :one
select cast(coalesce(max(last_at), 0) as bigint) as at from delivery_report where account_id = $1;

-- name: Cursor :one
select position from inbox_cursor where name = $1;

-- name: PutCursor :exec
insert into inbox_cursor (name, position) values ($1, $2) on conflict (name) do update set position = excluded.position;

-- name: WaitingReports :many
select * from delivery_report where account_id = $1 and effect = 'not_matched' and id > $2 and received_at < $3 order by id limit 200;

-- name: TextsAnswered429 :many
select m.text from attempt a join attempt_message am on am.attempt_id = a.id join message m on m.id = am.message_id
where a.account_id = $1 and a.class = 'C' and a.ended_at > $2 and m.number = $3 limit 20;

-- name: ReportArrivals :one
select cast(coalesce(sum(times), 0) as bigint) as n from delivery_report where account_id = $1;
