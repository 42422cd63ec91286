-- name: LatestCalls :many
select state, boot, ended_steady from attempt where account_id = $1 and licensed_at <> 0 and class <> 'P' order by id desc limit $2;

-- name: AccountRate :one
select * from account_rate where account_id = $1;

-- name: PutAccountRate :exec
insert into account_rate (account_id, boot, since, taken, wait, wait_until, lowered, lowered_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (account_id) do update set boot = excluded.boot, since = excluded.since, taken = excluded.taken, wait = excluded.wait,
  wait_until = excluded.wait_until, lowered = excluded.lowered, lowered_at = excluded.lowered_at;

-- name: SetThrottle :exec
update account_rate set wait = $2, wait_until = $3, lowered = $4, lowered_at = $5 where account_id = $1;

-- name: TakeAllPlaces :exec
insert into account_rate (account_id, boot, since, taken, wait, wait_until, lowered, lowered_at)
select id, 0, 0, true, 0, 0, 0, 0 from account where true
on conflict (account_id) do update set boot = 0, taken = true;

-- name: ReopenAccounts :exec
update account set changed_at = case when changed_at < $1 then $1 else changed_at + 1 end;

-- name: ClockReading :one
select * from account_clock where account_id = $1;

-- name: PutClockReading :exec
insert into account_clock (account_id, boot, steady, service_at, read_at) values ($1, $2, $3, $4, $5)
on conflict (account_id) do update set boot = excluded.boot, steady = excluded.steady, service_at = excluded.service_at, read_at = excluded.read_at;

-- name: BeginCall :one
insert into account_call (account_id, boot, ended) values ($1, $2, 0) returning id;

-- name: EndCall :exec
update account_call set boot = $2, ended = $3 where id = $1;

-- name: ForgetCalls :exec
delete from account_call where account_id = $1 and boot = $2 and ended > 0 and ended < $3;

-- name: RestampCalls :exec
update account_call set boot = $2, ended = $3 where account_id = $1;

-- name: EndOpenCalls :exec
update account_call set boot = $2, ended = $3 where account_id = $1 and ended = 0;

-- name: OtherCalls :many
select ended from account_call where account_id = $1;
