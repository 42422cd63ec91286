-- name: InsertCampaign :one
insert into campaign (account_id, token, name, sender_id, text, unicode, flash, group_id, group_name, state, pause, pause_code, canary, version,
  recipients, parts, fingerprint, window_from, created_by, created_name, started_by, started_name, created_at, started_at, finished_at, changed_at, list_id, calls_text, calls_pairs, urgent, test_of, again_of,
  send_again, text_key, series_id, series_run)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', '', 'pending', 1, $11, $12, $13, 0, $14, $15, 0, '', $16, 0, 0, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
returning id;

-- name: CampaignByID :one
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id where c.id = $1 and c.state <> 'hidden';

-- name: CampaignByToken :one
select sqlc.embed(c), a.test from campaign c join account a on a.id = c.account_id where c.token = $1 and c.state <> 'hidden';

-- name: UpdateCampaign :execrows
update campaign set name = $3, state = $4, pause = $5, pause_code = $6, canary = $7, window_from = $8, started_by = $9, started_name = $10,
  started_at = $11, finished_at = $12, changed_at = $13, send_at = $14, send_zone = $15, send_offset = $16, send_again = $17, hand_over = $18, cancelled_by = $19,
  version = version + 1
where id = $1 and version = $2;

-- name: SetCanary :exec
update campaign set canary = $2 where id = $1;

-- name: ResetFlyingCanaries :exec
update campaign set canary = 'pending' where account_id = $1 and canary = 'flying';

-- name: SetCampaignCounts :exec
update campaign set recipients = recipients + $2, parts = parts + $3 where id = $1;

-- name: ReplanDraft :execrows
update campaign set parts = $3, calls_text = $4, calls_pairs = $5, changed_at = $6, version = version + 1
where id = $1 and version = $2 and state = 'draft';

-- name: RunningCampaigns :many
select id, canary, sender_id, urgent, hand_over, send_at, send_zone, send_offset, test_of from campaign where account_id = $1 and state = 'running' order by id;

-- name: DueCampaigns :many
select id from campaign where state = 'scheduled' and send_at <= $1 order by send_at, id limit 100;

-- name: SimilarCampaigns :many
select id, text_key, recipients, started_at, group_id, series_id, name, started_name, state from campaign
where account_id = $1 and text_key = $2 and started_at > $3 and started_at > 0 and test_of = 0;

-- name: CampaignsSince :many
select id, text_key, recipients, started_at, group_id, series_id, name, started_name, state from campaign
where account_id = $1 and started_at > $2 and started_at > 0 and test_of = 0
order by started_at desc;

-- name: CampaignsWithoutTextKey :many
select id, text, list_id, again_of from campaign where text_key = 0 and id > $1 order by id limit 200;

-- name: PutTextKey :exec
update campaign set text_key = $2 where id = $1;

-- name: TextKeyOf :one
select text_key from campaign where id = $1;

-- name: DeleteDraftMessages :exec
delete from message where campaign_id = $1 and state in ('draft', 'skipped');

-- name: DeleteTally :exec
delete from campaign_tally where campaign_id = $1;

-- name: DeleteDraft :execrows
delete from campaign where id = $1 and state = 'draft';

-- name: OldDrafts :many
select c.id, c.account_id, c.recipients from campaign c
where c.state = 'draft' and c.changed_at < $1 and not exists (select 1 from campaign_tally t where t.campaign_id = c.id and t.key not in ('draft', 'leftout') and t.n <> 0)
order by c.changed_at limit 100;

-- name: CountMoved :one
select count(*) from campaign_tally t where t.campaign_id = $1 and t.key not in ('draft', 'leftout') and t.n <> 0;

-- name: SetUntidy :exec
update campaign set untidy = $2 where id = $1;

-- name: FirstUntidy :one
select id, pause from campaign where untidy = true order by id limit 1;

-- name: AddTally :exec
insert into campaign_tally (campaign_id, key, n) values ($1, $2, $3)
on conflict (campaign_id, key) do update set n = campaign_tally.n + excluded.n;

-- name: CampaignTally :many
select key, n from campaign_tally where campaign_id = $1 and n <> 0;

-- name: CountClaimed :one
select cast(coalesce(sum(recipients), 0) as bigint) as n from attempt where account_id = $1 and campaign_id = $2 and state = 'prepared' and state in ('prepared', 'sending');

-- name: PutNameKey :exec
update campaign set name_key = $2 where id = $1;

-- name: DropGrams :exec
delete from campaign_gram where campaign_id = $1;

-- name: PutGram :exec
insert into campaign_gram (gram, campaign_id) values ($1, $2);

-- name: CampaignsWithoutKey :many
select id, name from campaign where name_key = '' and name <> '' order by id limit 1000;
