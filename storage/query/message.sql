-- name: MessageByID :one
select * from message where id = $1;

-- name: MessagesByProviderID :many
select m.* from message m where m.account_id = $1 and m.provider_id = $2 and m.provider_id <> ''
union
select m.* from message m join message_alias a on a.message_id = m.id where a.account_id = $1 and a.provider_id = $2;

-- name: FirstQueued :one
select id, call_no, unicode from message where campaign_id = $1 and state = 'queued'
  and not exists (select 1 from in_flight f where f.account_id = message.account_id and f.number = message.number and f.text_hash = message.text_hash)
order by call_no, id limit 1;

-- name: InsertAttempt :one
insert into attempt (uid, account_id, campaign_id, epoch, state, canary, kind, sender_id, text, unicode, flash, group_id, recipients, accepted, class,
  http_status, code, reason, excerpt, written, prepared_at, licensed_at, ended_at)
values ($1, $2, $3, $4, 'prepared', $5, $6, $7, $8, $9, $10, $11, $12, 0, '', 0, '', '', '', 0, $13, 0, 0)
returning id;

-- name: DeleteAttempt :exec
delete from attempt where id = $1;

-- name: FreezeInFlight :exec
insert into in_flight (account_id, number, text_hash, message_id)
select m.account_id, m.number, m.text_hash, m.id from message m
where m.id in (select am.message_id from attempt_message am where am.attempt_id = $1);

-- name: DoubtInFlight :exec
insert into in_flight (account_id, number, text_hash, message_id)
select m.account_id, m.number, m.text_hash, m.id from message m where m.id = $1
on conflict do nothing;

-- name: ClaimMessages :execrows
update message set state = 'claimed', attempt_id = $1, changed_at = $2
where id in (select am.message_id from attempt_message am where am.attempt_id = $1) and state = 'queued';

-- name: LicenseAttempt :execrows
update attempt set state = 'sending', licensed_at = $3, journal_seq = $4
where attempt.id = $1 and attempt.state = 'prepared' and attempt.epoch = $2
  and attempt.epoch = (select a.epoch from account a where a.id = attempt.account_id and a.pause = '')
  and exists (select 1 from campaign c where c.id = attempt.campaign_id and c.state = 'running')
  and not exists (select 1 from attempt_message am join message m on m.id = am.message_id
    join blocked b on b.account_id = m.account_id and b.number = m.number where am.attempt_id = attempt.id);

-- name: LicenseLost :execrows
update attempt set state = 'sending', licensed_at = $2, journal_seq = -1 where id = $1 and state = 'prepared';

-- name: LicenseMessages :execrows
update message set state = 'sending', sent_at = $2, changed_at = $2 where id in (select am.message_id from attempt_message am where am.attempt_id = $1) and state = 'claimed' and attempt_id = $1;

-- name: EndAttempt :execrows
update attempt set state = $2, class = $3, http_status = $4, code = $5, reason = $6, excerpt = $7, written = $8, accepted = $9, ended_at = $10,
  boot = $11, ended_steady = $12
where id = $1 and state = $13;

-- name: AttemptByID :one
select * from attempt where id = $1;

-- name: AttemptByUID :one
select id, state, class, licensed_at from attempt where uid = $1;

-- name: OpenAttempts :many
select * from attempt where account_id = $1 and state in ('prepared', 'sending') order by id;

-- name: AttemptMessages :many
select m.* from message m where m.id in (select am.message_id from attempt_message am where am.attempt_id = $1) order by m.id;

-- name: SettleMessage :execrows
update message set state = $2, reason = $3, code = $4, provider_id = $5, evidence = $6, changed_at = $7
where id = $1 and state = $8 and attempt_id = $9;

-- name: InsertAlias :exec
insert into message_alias (account_id, provider_id, message_id) values ($1, $2, $3) on conflict (account_id, provider_id, message_id) do nothing;

-- name: DeleteInFlight :exec
delete from in_flight where message_id = $1;

-- name: DeleteSettledInFlight :exec
delete from in_flight where message_id in (
  select m.id from attempt_message am join message m on m.id = am.message_id where am.attempt_id = $1 and m.state not in ('claimed', 'sending', 'in_doubt'));

-- name: RecentAttempts :many
select class, accepted, canary from attempt
where campaign_id = $1 and ended_at >= $2 and ended_at > 0 and id <> $3 and state not in ('prepared', 'sending', 'released') and class <> 'crash'
order by ended_at desc, id desc limit 50;

-- name: CountUnsent :one
select cast((select count(*) from (select m.id from message m where m.campaign_id = $1 and m.state = 'queued' limit 1) q)
  + (select count(*) from (select m.id from message m where m.campaign_id = $1 and m.state = 'draft' limit 1) d)
  + (select count(*) from attempt a where a.account_id = $2 and a.campaign_id = $1 and a.state in ('prepared', 'sending')) as bigint) as n;

-- name: CancelQueued :execrows
update message set state = 'cancelled', reason = $2, changed_at = $3
where id in (select m.id from message m where m.campaign_id = $1 and m.state = 'queued' order by m.call_no, m.id limit $4) and state = 'queued';

-- name: CancelDrafts :execrows
update message set state = 'cancelled', reason = $2, changed_at = $3
where id in (select m.id from message m where m.campaign_id = $1 and m.state = 'draft' order by m.call_no, m.id limit $4) and state = 'draft';

-- name: DraftCalls :one
select cast(coalesce(max(q.call_no), -1) as bigint) as last from (
  select m.call_no from message m where m.campaign_id = $1 and m.state = 'draft' order by m.call_no, m.id limit $2) q;

-- name: QueueDrafts :execrows
update message set state = 'queued'
where id in (select m.id from message m where m.campaign_id = $1 and m.state = 'draft' and m.call_no <= $2 order by m.call_no, m.id limit $3) and state = 'draft';

-- name: QueueDraft :execrows
update message set state = 'queued', changed_at = $2 where id = $1 and state = 'draft';

-- name: DeliverMessage :execrows
update message set status = $2, error_code = $3, done_date = $4, conflict = $5, late = $6, changed_at = $7, known_at = $8 where id = $1 and state = 'accepted';

-- name: LateMessages :many
select * from message where account_id = $1 and state = 'accepted' and late = false and status in ('', 'ACCEPTD', 'UNKNOWN') and sent_at < $2
order by sent_at limit 500;

-- name: MessageAttempts :many
select a.* from attempt a join attempt_message am on am.attempt_id = a.id where am.message_id = $1 order by a.id;

-- name: AcceptJournalLine :exec
insert into journal_accepted (uid, accepted_at) values ($1, $2) on conflict (uid) do nothing;

-- name: JournalLineAccepted :one
select count(*) from journal_accepted where uid = $1;

-- name: InsertAttemptMessage :exec
insert into attempt_message (attempt_id, message_id) values ($1, $2);

-- name: DecisionCount :one
select cast(coalesce(sum(t.n), 0) as bigint) as n from campaign_tally t cross join campaign c
where t.key in ('doubt', 'held') and t.n > 0 and c.id = t.campaign_id and +c.account_id = $1;

-- name: DeleteMessage :exec
delete from message where id = $1;

-- name: DeleteAttemptMessages :exec
delete from attempt_message where message_id = $1;

-- name: InsertMessage :one
insert into message (account_id, campaign_id, row_no, number, text, text_hash, unicode, parts, state, reason, code, attempt_id, provider_id, evidence,
  status, error_code, done_date, conflict, late, created_at, sent_at, changed_at, call_no)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, '', '', '', '', false, false, $14, $15, $14, $16)
returning id;

-- name: OpenCanary :one
select count(*) from attempt where account_id = $1 and campaign_id = $2 and state in ('prepared', 'sending');
