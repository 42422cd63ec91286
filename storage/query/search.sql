-- name: AgainCampaigns :many
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id where c.again_of = $1 and c.again_of > 0 and c.state <> 'hidden' order by c.id;

-- name: CampaignAttempts :many
select * from attempt where campaign_id = $1 and id > $2 order by id limit $3;

-- name: ObjectAudit :many
select * from audit where object = $1 order by id;
