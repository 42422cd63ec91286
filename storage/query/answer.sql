-- name: PutLoggedAnswer :exec
insert into answer (account_id, campaign_uid, hash, provider_id, aliases, at) values ($1, $2, $3, $4, $5, $6) on conflict do nothing;

-- name: LoggedAnswers :many
select * from answer where account_id = $1 and campaign_uid = $2 and hash = $3 limit 2;

-- name: AnyLoggedAnswer :one
select count(*) from (select 1 from answer where account_id = $1 limit 1) a;

-- name: DeleteLoggedAnswer :exec
delete from answer where account_id = $1 and campaign_uid = $2 and hash = $3;

-- name: ForgetLoggedAnswers :exec
delete from answer where at < $1;

-- name: DoubtsAfter :many
select sqlc.embed(m), c.token from message m join campaign c on c.id = m.campaign_id
where m.account_id = $1 and m.state = 'in_doubt' and m.number <> '' and m.id > $2 order by m.id limit 200;
