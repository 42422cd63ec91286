-- name: InsertAgain :one
insert into campaign (account_id, token, name, sender_id, text, unicode, flash, group_id, group_name, state, pause, pause_code, canary, version,
  recipients, parts, fingerprint, window_from, created_by, created_name, started_by, started_name, created_at, started_at, finished_at, changed_at,
  list_id, again_of)
values ($1, $2, $3, $4, $5, $6, $7, '', '', 'hidden', '', '', 'pending', 1, 0, 0, '', 0, $8, $9, 0, '', $10, 0, 0, $10, $11, $12)
returning id;

-- name: AgainCampaigns :many
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id where c.again_of = $1 and c.again_of > 0 and c.state <> 'hidden' order by c.id;

-- name: CampaignAttempts :many
select * from attempt where campaign_id = $1 and id > $2 order by id limit $3;

-- name: ObjectAudit :many
select * from audit where object = $1 order by id;
