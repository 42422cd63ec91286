-- name: Templates :many
select * from template where account_id = $1 order by name, id;

-- name: DeleteTemplates :exec
delete from template where account_id = $1;

-- name: InsertTemplate :exec
insert into template (account_id, id, company_id, name, text, is_approved, is_active, created_date, approved_date)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: TemplateReading :one
select read_at, failure from template_reading where account_id = $1;

-- name: TemplatesRead :exec
insert into template_reading (account_id, read_at, failure) values ($1, $2, '')
on conflict (account_id) do update set read_at = excluded.read_at, failure = '';

-- name: TemplatesFailed :exec
insert into template_reading (account_id, read_at, failure) values ($1, 0, $2)
on conflict (account_id) do update set failure = excluded.failure;
