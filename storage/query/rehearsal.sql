-- name: InsertRehearsal :one
insert into rehearsal (account_id, campaign_id, name, user_id, user_name, kind, state, all_rows, row_count, done, created_at, started_at,
  ended_at, result) values ($1, $2, $3, $4, $5, $6, 'waiting', $7, 0, 0, $8, 0, 0, $9) returning id;

-- name: Rehearsal :one
select * from rehearsal where id = $1;

-- name: OpenRehearsal :one
select * from rehearsal where user_id = $1 and state in ('waiting', 'running');

-- name: NextRehearsal :one
select * from rehearsal where state = 'waiting' order by id limit 1;

-- name: CampaignRehearsals :many
select * from rehearsal where campaign_id = $1 order by id desc limit $2;

-- name: BeginRehearsal :exec
update rehearsal set state = 'running', started_at = $2 where id = $1;

-- name: SaveRehearsal :execrows
update rehearsal set state = $2, row_count = $3, done = $4, ended_at = $5, result = $6 where id = $1 and state = 'running';

-- name: StopRehearsal :execrows
update rehearsal set state = 'stopped', ended_at = $2 where id = $1 and state in ('waiting', 'running');

-- name: InterruptRehearsals :exec
update rehearsal set state = 'interrupted', ended_at = $1 where state = 'running';

-- name: DeleteOldRehearsals :exec
delete from rehearsal where created_at < $1 and state not in ('waiting', 'running');

-- name: RequestEnds :many
select class, count(*) as n from attempt where account_id = $1 and licensed_at >= $2 group by class;

-- name: RefusedSince :one
select cast(coalesce(sum(t.n), 0) as bigint) from campaign c join campaign_tally t on t.campaign_id = c.id and t.key = 'refused'
where c.account_id = $1 and c.started_at >= $2;
