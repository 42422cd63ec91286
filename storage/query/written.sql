-- name: PutWritten :exec
insert into written (user_id, account_id, form, saved_at) values ($1, $2, $3, $4)
on conflict (user_id, account_id) do update set form = excluded.form, saved_at = excluded.saved_at;

-- name: Written :one
select form, saved_at from written where user_id = $1 and account_id = $2;

-- name: DeleteWritten :exec
delete from written where user_id = $1 and account_id = $2;

-- name: DeleteOldWritten :exec
delete from written where saved_at < $1;
