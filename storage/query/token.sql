-- name: InsertToken :one
insert into token (name, user_id, hash, hint, created_at, used_at, revoked_at) values ($1, $2, $3, $4, $5, 0, 0) returning id;

-- name: TokenByHash :one
select sqlc.embed(t), sqlc.embed(u) from token t join app_user u on u.id = t.user_id where t.hash = $1;

-- name: TokenByID :one
select sqlc.embed(t), sqlc.embed(u) from token t join app_user u on u.id = t.user_id where t.id = $1;

-- name: Tokens :many
select sqlc.embed(t), sqlc.embed(u) from token t join app_user u on u.id = t.user_id
where t.user_id = $1 or $1 = 0
order by case when t.revoked_at = 0 then 0 else 1 end, t.id desc limit 500;

-- name: TouchToken :exec
update token set used_at = $2 where id = $1 and used_at < $2;

-- name: RevokeToken :execrows
update token set revoked_at = $2 where id = $1 and revoked_at = 0;

-- name: InsertTokenRequest :exec
insert into token_request (token_id, key, request, campaign_id, created_at) values ($1, $2, $3, 0, $4) on conflict (token_id, key) do nothing;

-- name: TokenRequest :one
select * from token_request where token_id = $1 and key = $2;

-- name: SetTokenRequest :execrows
update token_request set campaign_id = $3 where token_id = $1 and key = $2;

-- name: DeleteTokenRequest :exec
delete from token_request where token_id = $1 and key = $2 and campaign_id = 0;

-- name: DeleteOldTokenRequests :exec
delete from token_request where created_at < $1;
