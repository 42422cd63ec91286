-- name: RecordReading :one
select read_at, failure from record_reading where account_id = $1 and kind = $2;

-- name: RecordsRead :exec
insert into record_reading (account_id, kind, read_at, failure) values ($1, $2, $3, '')
on conflict (account_id, kind) do update set read_at = excluded.read_at, failure = '';

-- name: RecordsFailed :exec
insert into record_reading (account_id, kind, read_at, failure) values ($1, $2, 0, $3)
on conflict (account_id, kind) do update set failure = excluded.failure;

-- name: RecordSetting :one
select creates, warn_below, floor, mail_to, others_send from record_setting where account_id = $1;

-- name: PutRecordSetting :exec
insert into record_setting (account_id, creates, warn_below, floor, mail_to, others_send) values ($1, $2, $3, $4, $5, $6)
on conflict (account_id) do update set creates = excluded.creates, warn_below = excluded.warn_below, floor = excluded.floor, mail_to = excluded.mail_to,
  others_send = excluded.others_send;

-- name: UpdateSenderPurpose :exec
update sender_id set purpose = $3 where account_id = $1 and id = $2;

-- name: DeleteSenderID :exec
delete from sender_id where account_id = $1 and id = $2;

-- name: SenderWaits :one
select count(*) from campaign where state = 'scheduled' and account_id = $1 and sender_id = $2;

-- name: SetDefaultSender :execrows
update account set default_sender = $2, changed_at = $3 where id = $1;

-- name: Groups :many
select * from provider_group where account_id = $1 order by name, id;

-- name: DeleteGroups :exec
delete from provider_group where account_id = $1;

-- name: DeleteGroup :exec
delete from provider_group where account_id = $1 and id = $2;

-- name: RenameGroup :exec
update provider_group set name = $3 where account_id = $1 and id = $2;

-- name: InsertGroup :exec
insert into provider_group (account_id, id, name, contact_count, made_here, parent_id) values ($1, $2, $3, $4, $5, $6);

-- name: GroupsMade :many
select name, parent_id from group_made where account_id = $1;

-- name: PutGroupMade :exec
insert into group_made (account_id, name, parent_id, made_at) values ($1, $2, $3, $4)
on conflict (account_id, name) do update set parent_id = excluded.parent_id, made_at = excluded.made_at;

-- name: DeleteGroupMade :exec
delete from group_made where account_id = $1 and name = $2;

-- name: ForgetGroupsMade :exec
delete from group_made where account_id = $1 and made_at < $2;

-- name: GroupWaits :one
select count(*) from campaign where state = 'scheduled' and account_id = $1 and group_id = $2;
