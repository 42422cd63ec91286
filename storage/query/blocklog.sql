-- name: OweBlock :exec
insert into block_owed (line) values ($1);

-- name: OwedBlocks :many
select * from block_owed order by id limit $1;

-- name: DeleteOwedBlocks :exec
delete from block_owed where id <= $1;

-- name: DeleteLoggedBlock :one
delete from blocked where account_id = $1 and number = $2 and kind = $3 and since = $4 returning *;
