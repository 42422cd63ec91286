-- name: ContactByID :one
select * from contact where id = $1;

-- name: ContactByNumber :one
select * from contact where account_id = $1 and number = $2;

-- name: InsertContact :one
insert into contact (account_id, number, name, fields, tags, source, by_id, by_name, created_at, changed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
returning id;

-- name: UpdateContact :execrows
update contact set number = $2, name = $3, fields = $4, tags = $5, changed_at = $6, version = version + 1 where id = $1 and version = $7;

-- name: DeleteContact :one
delete from contact where id = $1 and account_id = $2 returning *;

-- name: DeleteMemberships :exec
delete from audience_member where contact_id = $1;

-- name: ContactsPage :many
select * from contact where account_id = $1 and id < $2 order by id desc limit $3;

-- name: ContactsRange :many
select * from contact where account_id = $1 and number >= $2 and number <= $3 order by number limit $4;

-- name: ContactsOfBlock :many
select * from contact where account_id = $1 and id >= $2 and id < $3 order by id;

-- name: MembersPage :many
select c.* from audience_member m join contact c on c.id = m.contact_id where m.audience_id = $1 and m.contact_id < $2 order by m.contact_id desc limit $3;

-- name: CountMembers :one
select count(*) from audience_member where audience_id = $1;

-- name: AudiencesOf :many
select a.* from audience_member m join audience a on a.id = m.audience_id where m.contact_id = $1 order by a.name;

-- name: ContactColumns :many
select * from contact_column where account_id = $1 order by id;

-- name: InsertContactColumn :exec
insert into contact_column (account_id, key, name) values ($1, $2, $3) on conflict (account_id, key) do nothing;

-- name: MarkStale :exec
insert into contact_stale (account_id, block) values ($1, $2) on conflict (account_id, block) do nothing;

-- name: StaleBlocks :many
select block from contact_stale where account_id = $1 order by block desc;

-- name: SomeStale :many
select * from contact_stale limit $1;

-- name: DeleteStale :execrows
delete from contact_stale where account_id = $1 and block = $2;

-- name: DeleteBlock :exec
delete from contact_block where account_id = $1 and block = $2;

-- name: InsertBlock :exec
insert into contact_block (account_id, block, key, n, body) values ($1, $2, $3, $4, $5);

-- name: InsertAudience :one
insert into audience (account_id, name, kind, filter, version, by_id, by_name, created_at, changed_at) values ($1, $2, $3, $4, 1, $5, $6, $7, $7)
returning id;

-- name: UpdateAudience :execrows
update audience set name = $3, filter = $4, changed_at = $5, version = version + 1 where id = $1 and version = $2;

-- name: AudienceByID :one
select * from audience where id = $1;

-- name: Audiences :many
select * from audience where account_id = $1 order by name limit $2;

-- name: DeleteMembers :exec
delete from audience_member where audience_id = $1;

-- name: DeleteAudience :one
delete from audience where id = $1 returning *;

-- name: InsertMember :execrows
insert into audience_member (audience_id, contact_id) values ($1, $2) on conflict do nothing;

-- name: DeleteMember :execrows
delete from audience_member where audience_id = $1 and contact_id = $2;
