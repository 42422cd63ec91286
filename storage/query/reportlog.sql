-- name: ReportByID :one
select * from delivery_report where id = $1;

-- name: ReportsPage :many
select * from delivery_report where account_id = $1 and id < $2 order by id desc limit $3;

-- name: UnmatchedPage :many
select * from delivery_report where account_id = $1 and effect = 'not_matched' and id < $2 order by id desc limit $3;

-- name: RepeatedPage :many
select * from delivery_report where account_id = $1 and times > 1 and id < $2 order by id desc limit $3;

-- name: SuspiciousReports :one
select count(*) from (select r.id from delivery_report r where r.account_id = $1 and r.suspicious = true limit 100) q;

-- name: NewerReports :one
select count(*) from (select r.id from delivery_report r where r.account_id = $1 and r.id > $2 limit 1000) q;

-- name: NewerUnmatched :one
select count(*) from (select r.id from delivery_report r where r.account_id = $1 and r.effect = 'not_matched' and r.id > $2 limit 1000) q;

-- name: NewerRepeated :one
select count(*) from (select r.id from delivery_report r where r.account_id = $1 and r.times > 1 and r.id > $2 limit 1000) q;

-- name: ForgetUnmatched :execrows
delete from delivery_report where id in (
  select r.id from delivery_report r where r.account_id = $1 and r.effect = 'not_matched' and r.id <= $2 order by r.id limit 2000);

-- name: CountSilent :one
select cast((select count(*) from (select m.id from message m where m.account_id = $1 and m.state = 'accepted' and m.late = false
    and m.status in ('', 'ACCEPTD', 'UNKNOWN') and m.sent_at >= $2 and m.sent_at <= $3 limit 10001) q)
  + (select count(*) from (select m.id from message m where m.account_id = $1 and m.state = 'accepted' and m.late = true
    and m.status in ('', 'ACCEPTD', 'UNKNOWN') and m.sent_at >= $2 and m.sent_at <= $3 limit 10001) p) as bigint) as n;

-- name: NextSilent :one
select m.* from message m where m.account_id = $1 and m.state = 'accepted' and m.late = false and m.status in ('', 'ACCEPTD', 'UNKNOWN') and m.provider_id <> ''
  and (m.sent_at, m.id) > ($2, $3) and m.sent_at <= $4 order by m.sent_at, m.id limit 1;

-- name: NextLate :one
select m.* from message m where m.account_id = $1 and m.state = 'accepted' and m.late = true and m.status in ('', 'ACCEPTD', 'UNKNOWN') and m.provider_id <> ''
  and (m.sent_at, m.id) > ($2, $3) and m.sent_at <= $4 order by m.sent_at, m.id limit 1;

-- name: LastSpan :one
select * from receiver_span order by id desc limit 1;

-- name: OpenSpan :one
insert into receiver_span (from_at, until_at) values ($1, $1) returning id;

-- name: ExtendSpan :execrows
update receiver_span set until_at = $2 where id = $1 and until_at <= $2;

-- name: Spans :many
select * from receiver_span where until_at >= $1 order by id desc limit 500;

-- name: ForgetSpans :exec
delete from receiver_span where until_at < $1;

-- name: AddPulse :exec
insert into receiver_minute (account_id, minute, answered, refused, lost, took, posted) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (account_id, minute) do update set answered = receiver_minute.answered + excluded.answered, refused = receiver_minute.refused + excluded.refused,
  lost = receiver_minute.lost + excluded.lost, took = excluded.took, posted = receiver_minute.posted + excluded.posted;

-- name: PulseAt :one
select * from receiver_minute where account_id = $1 and minute = $2;

-- name: Pulses :many
select * from receiver_minute where account_id = $1 and minute >= $2 order by minute;

-- name: RefusedMinutes :many
select * from receiver_minute where refused > 0 and minute < $1 order by minute desc limit $2;

-- name: PostedSince :one
select cast(coalesce(sum(posted), 0) as bigint) as n from receiver_minute where account_id = $1 and posted > 0 and minute >= $2;

-- name: ForgetPulses :exec
delete from receiver_minute where account_id = $1 and minute < $2;

-- name: OpenInquiry :execrows
insert into inquiry (account_id, from_at, until_at, state, total, asked, learnt, cursor_at, cursor_id, by_id, by_name, started_at, ended_at)
values ($1, $2, $3, 'running', $4, 0, 0, $5, 0, $6, $7, $8, 0)
on conflict (account_id, from_at) do update set state = 'running', total = excluded.total, asked = 0, learnt = 0, cursor_at = excluded.cursor_at, cursor_id = 0,
  by_id = excluded.by_id, by_name = excluded.by_name, started_at = excluded.started_at, ended_at = 0 where inquiry.state <> 'running';

-- name: RunningInquiry :one
select * from inquiry where account_id = $1 and state = 'running' order by id limit 1;

-- name: InquiryAt :one
select * from inquiry where account_id = $1 and from_at = $2;

-- name: MoveInquiry :execrows
update inquiry set asked = asked + 1, learnt = learnt + $2, cursor_at = $3, cursor_id = $4 where id = $1 and state = 'running';

-- name: EndInquiry :execrows
update inquiry set state = $2, ended_at = $3 where id = $1 and state = 'running';
