-- name: DeleteBlocked :one
delete from blocked where id = $1 returning *;

-- name: BlockedByID :one
select * from blocked where id = $1;

-- name: BlockedPage :many
select * from blocked where account_id = $1 and id < $2 order by id desc limit $3;

-- name: BlockedRange :many
select * from blocked where account_id = $1 and number >= $2 and number <= $3 order by number limit $4;

-- name: CountBlocked :one
select count(*) from blocked where account_id = $1;
