-- name: Templates :many
select * from template where account_id = $1 order by name, id;

-- name: DeleteTemplates :exec
delete from template where account_id = $1;

-- name: DeleteTemplate :exec
delete from template where account_id = $1 and id = $2;

-- name: UpdateTemplate :exec
update template set name = $3, text = $4 where account_id = $1 and id = $2;

-- name: InsertTemplate :exec
insert into template (account_id, id, company_id, name, text, is_approved, is_active, created_date, approved_date)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: TemplateDrafts :many
select * from template_draft where account_id = $1 order by name, id;

-- name: TemplateDraft :one
select * from template_draft where account_id = $1 and id = $2;

-- name: InsertTemplateDraft :one
insert into template_draft (account_id, name, text, changed_name, changed_at) values ($1, $2, $3, $4, $5) returning id;

-- name: UpdateTemplateDraft :execrows
update template_draft set name = $3, text = $4, changed_name = $5, changed_at = $6 where account_id = $1 and id = $2 and changed_at = $7;

-- name: DeleteTemplateDraft :execrows
delete from template_draft where account_id = $1 and id = $2;

-- name: PutCampaignTemplate :exec
insert into campaign_template (campaign_id, account_id, template_id, name, text, made_at)
select cast($1 as bigint), t.account_id, t.id, t.name, t.text, cast($4 as bigint) from template t
where t.account_id = $2 and t.name = $3 and t.is_approved = true and t.is_active = true order by t.id limit 1
on conflict (campaign_id) do nothing;

-- name: CampaignTemplate :one
select * from campaign_template where campaign_id = $1;

-- name: TemplateUses :many
select u.template_id, cast(max(u.made_at) as bigint) as last, count(*) as n from campaign_template u where u.account_id = $1 group by u.template_id;

-- name: CampaignsOfTemplate :many
select sqlc.embed(c), a.test from campaign_template u join campaign c on c.id = u.campaign_id join account a on a.id = c.account_id
where u.account_id = $1 and u.template_id = $2 and c.state <> 'hidden'
order by u.campaign_id desc limit 10;

-- name: TemplateWaits :one
select count(*) from campaign c join campaign_template u on u.campaign_id = c.id
where c.state = 'scheduled' and c.account_id = $1 and u.template_id = $2;
