-- name: InsertWallLink :one
insert into wall_link (campaign_id, hash, made_by, made_name, made_at, revoked_at) values ($1, $2, $3, $4, $5, 0) returning id;

-- name: WallLinkByHash :one
select * from wall_link where hash = $1;

-- name: WallLinks :many
select * from wall_link where campaign_id = $1 and revoked_at = 0 order by id desc limit 100;

-- name: RevokeWallLink :execrows
update wall_link set revoked_at = $3 where id = $1 and campaign_id = $2 and revoked_at = 0;
