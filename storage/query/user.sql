-- name: InsertUser :one
insert into app_user (email, name, role, password_hash, active, created_at) values ($1, $2, $3, $4, true, $5) returning id;

-- name: UserByID :one
select * from app_user where id = $1;

-- name: UserByEmail :one
select * from app_user where email = $1;

-- name: Users :many
select * from app_user order by name, id;

-- name: CountAdministrators :one
select count(*) from app_user where role = 'administrator' and active = true;

-- name: SetPassword :execrows
update app_user set password_hash = $2 where id = $1;

-- name: SetUser :execrows
update app_user set name = $2, role = $3, active = $4 where id = $1;

-- name: InsertSession :exec
insert into session (hash, user_id, account_id, created_at, seen_at, agent, ended) values ($1, $2, $3, $4, $4, $5, false);

-- name: SessionByHash :one
select s.account_id as chosen_account, s.created_at as signed_in_at, s.seen_at, s.ended, u.* from session s join app_user u on u.id = s.user_id where s.hash = $1;

-- name: TouchSession :exec
update session set seen_at = $2 where hash = $1 and ended = false;

-- name: ChooseAccount :execrows
update session set account_id = $2 where hash = $1 and ended = false;

-- name: EndSession :exec
update session set ended = true where hash = $1;

-- name: EndUserSessions :exec
update session set ended = true where user_id = $1 and ended = false;

-- name: DeleteOldSessions :exec
delete from session where seen_at < $1 or created_at < $2;

-- name: InsertInvite :exec
insert into invite (hash, email, role, created_by, created_at, expires_at, used_at) values ($1, $2, $3, $4, $5, $6, 0);

-- name: OpenInvite :one
select * from invite where hash = $1 and used_at = 0 and expires_at > $2;

-- name: UseInvite :execrows
update invite set used_at = $2 where hash = $1 and used_at = 0 and expires_at > $2;

-- name: OpenInvites :many
select * from invite where used_at = 0 and expires_at > $1 order by created_at;

-- name: InsertAudit :exec
insert into audit (at, user_id, user_name, action, object, detail) values ($1, $2, $3, $4, $5, $6);

-- name: SetTestNumber :exec
update app_user set test_number = $2 where id = $1;
