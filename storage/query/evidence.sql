-- name: DoubtsWithReports :many
select m.* from message m
where m.account_id = $1 and m.state = 'in_doubt' and m.number <> '' and m.id > $2
  and exists (select 1 from delivery_report r where r.account_id = $1 and r.match_key = m.number and r.effect = 'not_matched' and r.provider_id <> '' and r.received_at < $3)
order by m.id limit 200;

-- name: UnmatchedTo :many
select * from delivery_report where account_id = $1 and match_key = $2 and effect = 'not_matched' order by provider_id, id limit 100;

-- name: MayHaveLeft :many
select m.* from in_flight f join message m on m.id = f.message_id where f.account_id = $1 and f.number in ($2, '')
union
select m.* from message m where m.account_id = $1 and m.number = $2 and m.evidence <> '' and m.sent_at > $3;

-- name: KeyReport :exec
update delivery_report set match_key = $2 where id = $1;

-- name: UnkeyedReports :many
select id, mobile from delivery_report where account_id = $1 and match_key = '' and effect = 'not_matched' and mobile <> '' order by id limit 500;

-- name: LeaveDoubt :execrows
update message set state = $2, reason = $3, code = '', provider_id = $4, evidence = $5, changed_at = $6
where id = $1 and state = $7 and attempt_id = $8;

-- name: QueueHeld :execrows
update message set state = 'queued', reason = '', code = '', changed_at = $2 where id = $1 and state = 'held' and attempt_id = $3;

-- name: NameMessage :execrows
update message set provider_id = $2, changed_at = $3 where id = $1 and state = 'accepted' and provider_id = '';

-- name: SuspectReports :exec
update delivery_report set suspicious = true where account_id = $1 and provider_id = $2 and message_id = $3;

-- name: PutAsked :one
insert into asked (account_id, message_id, provider_id, why, inquiry_id, created_at, asked_at, number, status, error_code, done_date, raw, code, words, effect)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) returning id;

-- name: AnswerAsked :execrows
update asked set asked_at = $2, number = $3, status = $4, error_code = $5, done_date = $6, raw = $7, code = $8, words = $9, effect = $10
where id = $1 and asked_at = 0;

-- name: NextAsked :one
select * from asked where account_id = $1 and asked_at = 0 order by id limit 1;

-- name: WaitingAsked :one
select count(*) from asked where message_id = $1 and asked_at = 0;

-- name: MessageAsked :many
select * from asked where message_id = $1 order by id;

-- name: DecisionAttempts :many
select distinct m.attempt_id from message m where m.campaign_id = $1 and m.state in ('in_doubt', 'held') and m.attempt_id > $2 order by m.attempt_id limit $3;

-- name: WaitingOf :many
select m.* from message m where m.campaign_id = $1 and m.attempt_id = $2 and m.state in ('in_doubt', 'held') order by m.id limit $3;

-- name: DecidedSince :many
select m.* from message m join attempt_message am on am.message_id = m.id
where am.attempt_id = $1 and m.attempt_id = $1 and m.state not in ('in_doubt', 'held') and m.changed_at > $2 order by m.id limit 3;

-- name: SettledSince :many
select m.campaign_id, m.evidence, count(*) as n from message m join attempt_message am on am.message_id = m.id
where am.attempt_id = $1 and m.attempt_id = $1 and m.state not in ('in_doubt', 'held') and m.changed_at > $2
group by m.campaign_id, m.evidence;

-- name: BalanceBefore :one
select * from balance where account_id = $1 and plugin_type = 'SMS' and since <= $2 order by id desc limit 1;

-- name: BalanceAfter :one
select * from balance where account_id = $1 and plugin_type = 'SMS' and read_at >= $2 order by id limit 1;

-- name: PutDecision :one
insert into decision (account_id, campaign_id, state, n, choices, by_id, by_name, at, second_id, second_name, decided_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, 0, '', $9) returning id;

-- name: DecisionByID :one
select * from decision where id = $1;

-- name: EndDecision :execrows
update decision set state = $2, second_id = $3, second_name = $4, decided_at = $5 where id = $1 and state = 'proposed';

-- name: ProposedDecisions :many
select * from decision where campaign_id = $1 and state = 'proposed' order by id;

-- name: DecidedAlone :one
select cast(coalesce(sum(n), 0) as bigint) as n from decision where campaign_id = $1 and by_id = $2 and second_id = 0 and state = 'done' and at > $3;

-- name: Succeed :execrows
insert into resend (message_id, successor_id, campaign_id) values ($1, $2, $3)
on conflict (message_id) do update set successor_id = excluded.successor_id, campaign_id = excluded.campaign_id;

-- name: SuccessorOf :one
select r.successor_id, r.campaign_id, c.state as campaign_state, c.name, m.state as message_state
from resend r join campaign c on c.id = r.campaign_id join message m on m.id = r.successor_id where r.message_id = $1;

-- name: PredecessorOf :one
select message_id from resend where successor_id = $1;

-- name: Predecessors :many
select r.message_id, r.successor_id, m.state, m.campaign_id, m.attempt_id, m.sent_at, m.changed_at from resend r join message m on m.id = r.message_id where r.campaign_id = $1 order by r.message_id;

-- name: CloseResent :execrows
update message set state = 'closed_resent', reason = $2, evidence = 'person', changed_at = $3 where id = $1 and state = 'in_doubt';

-- name: SkipSuccessor :execrows
update message set state = 'skipped', reason = $2, code = 'settled', changed_at = $3 where id = $1 and state = 'draft';

-- name: HintedDoubts :one
select count(*) from (select m.id from message m where m.campaign_id = $1 and m.state in ('in_doubt', 'held') and m.state = 'in_doubt' and m.number <> ''
  and exists (select 1 from delivery_report r where r.account_id = m.account_id and r.match_key = m.number and r.effect = 'not_matched' and r.received_at >= m.sent_at - 300000) limit 1000) q;
