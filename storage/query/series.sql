-- name: InsertSeries :one
insert into series (uid, account_id, token, name, sender_id, template, text, flash, audience_id, rule, ceiling, state, pause, run_count, last_day,
  next_at, version, created_by, created_name, created_at, changed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', 0, '', $13, 1, $14, $15, $16, $16) returning id;

-- name: SeriesByID :one
select sqlc.embed(s), cast(coalesce(a.name, '') as text) as audience from series s left join audience a on a.id = s.audience_id where s.id = $1;

-- name: SeriesByToken :one
select id from series where token = $1;

-- name: SeriesUID :one
select uid from series where id = $1;

-- name: SeriesOfAccount :many
select sqlc.embed(s), cast(coalesce(a.name, '') as text) as audience from series s left join audience a on a.id = s.audience_id
where s.account_id = $1 order by s.id desc limit $2;

-- name: SeriesToLookAt :many
select id from series where state = 'active' and next_at > 0 and next_at <= $1
union select series_id from series_run where state = 'making' order by 1;

-- name: UpdateSeries :execrows
update series set name = $3, sender_id = $4, template = $5, text = $6, rule = $7, ceiling = $8, state = $9, pause = $10, run_count = $11, last_day = $12,
  next_at = $13, created_by = $14, created_name = $15, changed_at = $16, version = version + 1
where id = $1 and version = $2;

-- name: PutSeriesRun :exec
insert into series_run (series_id, run, day, due_at, zone, zone_offset, state, why, list_uid, campaign_id, left_out, changed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (series_id, run) do update set due_at = excluded.due_at, zone = excluded.zone, zone_offset = excluded.zone_offset, state = excluded.state,
  why = excluded.why, list_uid = excluded.list_uid, campaign_id = excluded.campaign_id, left_out = excluded.left_out, changed_at = excluded.changed_at;

-- name: SeriesRuns :many
select * from series_run where series_id = $1 order by run desc limit $2;

-- name: SeriesRun :one
select * from series_run where series_id = $1 and run = $2;

-- name: ReleaseToken :exec
update campaign set token = $2 where token = $1 and state = 'hidden';

-- name: PauseActiveSeries :exec
update series set state = 'paused', pause = $1, changed_at = $2, version = version + 1 where state = 'active';

-- name: AskOpenRuns :exec
update series_run set state = 'asking', why = $1, changed_at = $2 where state = 'making';

-- name: CalendarStarted :many
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id
where c.account_id = $1 and c.started_at >= $2 and c.started_at < $3 and c.started_at > 0 and c.test_of = 0 and c.state <> 'hidden' order by c.started_at limit 500;

-- name: CalendarComing :many
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id
where c.account_id = $1 and c.send_at >= $2 and c.send_at < $3 and c.started_at = 0 and c.state in ('scheduled', 'awaiting_approval', 'paused') order by c.send_at limit 500;
