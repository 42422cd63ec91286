-- name: InsertAccount :one
insert into account (uid, name, base_url, client_id, api_key, key_hint, test, per_minute, call_limit, url_budget, max_parts, price_per_part,
  country, timezone, currency, default_sender, late_after, hold_on_429, doubt_429, pause, pause_code, reached_at, failed_at, failure, epoch, created_at, changed_at, abroad, hours_from, hours_to, type_above, hours_week, cap_messages, cap_days, day_most, person_most, person_day_most)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, false, '', '', 0, 0, '', 1, $19, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)
returning id;

-- name: UpdateAccount :execrows
update account set name = $2, base_url = $3, client_id = $4, api_key = $5, key_hint = $6, per_minute = $7, call_limit = $8, url_budget = $9,
  max_parts = $10, price_per_part = $11, country = $12, timezone = $13, currency = $14, default_sender = $15, late_after = $16,
  hold_on_429 = $17, changed_at = $18, abroad = $19, hours_from = $20, hours_to = $21, type_above = $22,
  hours_week = $23, cap_messages = $24, cap_days = $25, day_most = $26, person_most = $27, person_day_most = $28
where id = $1;

-- name: SetWire :exec
update account set send_by_get = $2, take_posts = $3 where id = $1;

-- name: AccountByID :one
select * from account where id = $1;

-- name: AccountByName :one
select * from account where name = $1;

-- name: Accounts :many
select * from account order by test, id;

-- name: PauseAccount :execrows
update account set pause = $2, pause_code = $3 where id = $1 and pause = '';

-- name: ResumeAccount :execrows
update account set pause = '', pause_code = '' where id = $1 and pause <> '';

-- name: MarkReached :exec
update account set reached_at = $2, failure = '' where id = $1;

-- name: MarkFailed :exec
update account set failed_at = $2, failure = $3 where id = $1;

-- name: TakeLease :one
update account set epoch = epoch + 1 where id = $1 returning epoch;

-- name: InsertCallbackToken :exec
insert into callback_token (hash, account_id, kind, sealed, created_at, valid_until) values ($1, $2, $3, $4, $5, 0);

-- name: ExpireCallbackTokens :exec
update callback_token set valid_until = $3 where account_id = $1 and kind = $2 and valid_until = 0;

-- name: CallbackTokens :many
select t.*, a.take_posts from callback_token t join account a on a.id = t.account_id
where t.valid_until = 0 or t.valid_until > $1
order by t.account_id, t.kind, case when t.valid_until = 0 then 0 else 1 end, t.valid_until desc;

-- name: SenderIDs :many
select * from sender_id where account_id = $1 order by text, id;

-- name: DeleteSenderIDs :exec
delete from sender_id where account_id = $1;

-- name: InsertSenderID :exec
insert into sender_id (account_id, id, company_id, text, purpose, is_active, approve_status, created_date, approved_date, read_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- name: LatestBalances :many
select b.* from balance b
where b.account_id = $1 and b.id in (select max(id) from balance where account_id = $1 group by plugin_type)
order by b.plugin_type;

-- name: InsertBalance :exec
insert into balance (account_id, plugin_type, credits, since, read_at, seq, seq_before) values ($1, $2, $3, $4, $4, $5, $6);

-- name: TouchBalance :exec
update balance set read_at = $2 where id = $1;

-- name: TouchBalanceAt :exec
update balance set read_at = $2, seq = $3, seq_before = $4 where id = $1;

-- name: WitnessedBalance :one
select * from balance where account_id = $1 and plugin_type = $2 and seq >= 0 order by id desc limit 1;

-- name: ForgetWitnessed :exec
update balance set seq = -1 where seq >= 0;

-- name: ChargedSince :many
select a.group_id, m.number, m.parts from attempt a
join attempt_message am on am.attempt_id = a.id join message m on m.id = am.message_id
where a.account_id = $1 and a.licensed_at > 0 and (a.licensed_at >= $2 or a.journal_seq > $3)
  and a.state not in ('not_sent', 'prepared', 'released');

-- name: Setting :one
select value from setting where name = $1;

-- name: PutSetting :exec
insert into setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value;

-- name: DeleteSetting :execrows
delete from setting where name = $1;

-- name: DoubtRateAnswers :execrows
update account set doubt_429 = true where id = $1 and doubt_429 = false;
