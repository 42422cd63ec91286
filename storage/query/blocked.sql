-- name: DeleteBlocked :one
delete from blocked where id = $1 returning *;

-- name: DeleteOwnBlocked :one
delete from blocked where account_id = $1 and number = $2 and kind = $3 returning *;

-- name: InsertEndedBlock :exec
insert into ended_block (account_id, number, kind, note, by_id, by_name, since, proof, message_id, ended_at, ended_kind, ended_note, ended_by_id, ended_by_name)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14);

-- name: EndedBlocks :many
select * from ended_block where account_id = $1 and number = $2 order by id desc limit $3;

-- name: BlockedByID :one
select * from blocked where id = $1;

-- name: BlockedPage :many
select * from blocked where account_id = $1 and id < $2 order by id desc limit $3;

-- name: BlockedRange :many
select * from blocked where account_id = $1 and number >= $2 and number <= $3 order by number limit $4;

-- name: CountBlocked :one
select count(*) from blocked where account_id = $1;
