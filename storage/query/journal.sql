-- name: JournalHeads :many
select * from journal_head order by node;

-- name: JournalHead :one
select * from journal_head where node = $1;

-- name: PutJournalHead :exec
insert into journal_head (node, generation, seq, sum, at) values ($1, $2, $3, $4, $5)
on conflict (node) do update set generation = excluded.generation, seq = excluded.seq, sum = excluded.sum, at = excluded.at;

-- name: MoveJournalHead :execrows
update journal_head set seq = $3, sum = $4, at = $5 where node = $1 and generation = $2;

-- name: PutJournalLine :exec
insert into journal_line (node, seq, line) values ($1, $2, $3);

-- name: DropJournalLines :exec
delete from journal_line where node = $1 and seq <= $2;

-- name: JournalLines :many
select seq, line from journal_line where node = $1 and seq > $2 order by seq;

-- name: CountLicensed :one
select count(*) from (select a.id from attempt a where a.licensed_at > 0 limit 1) q;

-- name: LicensedAttempts :many
select id, uid, account_id, campaign_id, state, class, kind, text, group_id, recipients, licensed_at from attempt
where licensed_at >= $1 and id > $2 order by id limit $3;

-- name: Remember :exec
insert into remembered (hash, campaign_uid, account_uid, test, licensed_at, accepted_at) values ($1, $2, $3, $4, $5, $6)
on conflict (hash, campaign_uid) do nothing;

-- name: RememberCampaign :exec
insert into remembered_campaign (uid, name, started_name, first_at, last_at, messages, doubtful) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (uid) do update set name = case when excluded.name = '' then remembered_campaign.name else excluded.name end,
  started_name = case when excluded.name = '' then remembered_campaign.started_name else excluded.started_name end,
  first_at = case when excluded.first_at < remembered_campaign.first_at then excluded.first_at else remembered_campaign.first_at end,
  last_at = case when excluded.last_at > remembered_campaign.last_at then excluded.last_at else remembered_campaign.last_at end,
  messages = excluded.messages, doubtful = excluded.doubtful;

-- name: RememberedCampaigns :many
select * from remembered_campaign order by last_at desc, uid;

-- name: AnyRemembered :one
select count(*) from (select hash from remembered limit 1) q;

-- name: ForgetRemembered :execrows
delete from remembered where licensed_at >= $1 and licensed_at < $2;

-- name: ForgetRememberedCampaigns :exec
delete from remembered_campaign where not exists (select 1 from remembered r where r.campaign_uid = remembered_campaign.uid);

-- name: PausableCampaigns :many
select sqlc.embed(campaign), account.test from campaign join account on account.id = campaign.account_id
where campaign.state in ('running', 'paused', 'stopped', 'scheduled') order by campaign.id;

-- name: UnsentOf :many
select id, number, text, state, attempt_id from message where campaign_id = $1 and state in ('draft', 'queued', 'claimed') and id > $2 order by id limit $3;

-- name: InsertJournalGap :one
insert into journal_gap (relation, sentence, copy_at, known_until, messages, doubtful, campaigns, accepted_at, accepted_by, closes_at, closed_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '') returning id;

-- name: JournalGaps :many
select * from journal_gap order by id desc limit $1;

-- name: CloseJournalGap :execrows
update journal_gap set closes_at = $2, closed_by = $3 where id = $1 and closes_at > $2;

-- name: AcceptedLicences :many
select uid from journal_accepted;

-- name: IncludeSent :execrows
update campaign set include_sent = true where id = $1 and include_sent = false;
