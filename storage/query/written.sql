-- name: PutWritten :exec
insert into written_form (user_id, account_id, form_key, form, saved_at) values ($1, $2, $3, $4, $5)
on conflict (user_id, account_id, form_key) do update set form = excluded.form, saved_at = excluded.saved_at;

-- name: Written :one
select form, saved_at from written_form where user_id = $1 and account_id = $2 and form_key = $3;

-- name: WrittenKeys :many
select form_key from written_form where user_id = $1 and account_id = $2 and form_key not like 'list %'
order by saved_at desc, form_key limit $3;

-- name: DeleteWritten :exec
delete from written_form where user_id = $1 and account_id = $2 and form_key = $3;

-- name: DeleteMostWritten :exec
delete from written_form where written_form.user_id = $1 and written_form.account_id = $2 and written_form.form_key in (
  select w.form_key from written_form w where w.user_id = $1 and w.account_id = $2 order by w.saved_at desc, w.form_key limit 1000 offset $3);

-- name: DeleteOldWritten :exec
delete from written_form where saved_at < $1;
