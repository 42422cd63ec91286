-- name: InsertUSSDMenu :one
insert into ussd_menu (account_id, draft, revision, changed_at, published, secret) values ($1, $2, 1, $3, 0, $4) returning id;

-- name: USSDMenus :many
select * from ussd_menu where account_id = $1 order by id;

-- name: USSDMenu :one
select * from ussd_menu where id = $1;

-- name: SaveUSSDMenu :execrows
update ussd_menu set draft = $3, revision = revision + 1, changed_at = $4 where id = $1 and revision = $2;

-- name: PublishUSSDMenu :exec
update ussd_menu set published = $2 where id = $1;

-- name: DeleteUSSDMenu :exec
delete from ussd_menu where id = $1;

-- name: DeleteUSSDVersions :exec
delete from ussd_version where menu_id = $1;

-- name: InsertUSSDVersion :exec
insert into ussd_version (menu_id, no, body, at, by_id, by_name) values ($1, $2, $3, $4, $5, $6);

-- name: LastUSSDVersion :one
select cast(coalesce(max(no), 0) as bigint) as no from ussd_version where menu_id = $1;

-- name: USSDVersions :many
select * from ussd_version where menu_id = $1 order by no desc limit 200;

-- name: USSDVersion :one
select * from ussd_version where menu_id = $1 and no = $2;

-- name: PublishedUSSDMenus :many
select menu.id, menu.account_id, menu.published, menu.secret, v.body from ussd_menu menu join ussd_version v on v.menu_id = menu.id and v.no = menu.published
where menu.published > 0 order by menu.id;

-- name: PutUSSDSession :exec
insert into ussd_session (id, account_id, menu_id, version, number, network, code, begun_at, last_at, ended_at, ended, steps, slowest, screen, trial, service_id, ussd_id, status, body)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
on conflict (id) do update set last_at = excluded.last_at, ended_at = excluded.ended_at, ended = excluded.ended, steps = excluded.steps,
slowest = excluded.slowest, screen = excluded.screen
where excluded.steps >= ussd_session.steps and (excluded.ended_at > 0 or ussd_session.ended_at = 0);

-- name: PutUSSDStep :exec
insert into ussd_step (session_id, no, at, screen, input, text, took, ends) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (session_id, no) do nothing;

-- name: PutUSSDSaved :exec
insert into ussd_saved (session_id, account_id, menu_id, number, name, text, at) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (menu_id, session_id, name) do update set text = excluded.text, at = excluded.at where excluded.at >= ussd_saved.at;

-- name: PutUSSDJoined :exec
insert into ussd_joined (account_id, list, number, at) values ($1, $2, $3, $4) on conflict (account_id, list, number) do nothing;

-- name: EndOpenUSSDSessions :exec
update ussd_session set ended_at = last_at, ended = $2 where account_id = $1 and ended_at = 0;

-- name: USSDSessions :many
select * from ussd_session where account_id = $1 and id < $2 order by id desc limit $3;

-- name: USSDSessionsOf :many
select * from ussd_session where menu_id = $1 and id < $2 order by id desc limit $3;

-- name: OpenUSSDSessions :many
select * from ussd_session where account_id = $1 and ended_at = 0 and id < $2 order by id desc limit $3;

-- name: SlowestUSSDSessions :many
select * from ussd_session where account_id = $1 and slowest > $2 order by slowest desc limit $3;

-- name: USSDSession :one
select * from ussd_session where id = $1;

-- name: USSDSteps :many
select * from ussd_step where session_id = $1 order by no limit 500;

-- name: CountOpenUSSDSessions :one
select count(*) from ussd_session where account_id = $1 and ended_at = 0;

-- name: USSDDrops :many
select s.screen, count(distinct s.session_id) as seen,
cast(sum(case when s.no = r.steps and r.ended in ('time', 'caller', 'begin') then 1 else 0 end) as bigint) as ended
from (select id, steps, ended from ussd_session where menu_id = $1 order by id desc limit 10000) r
join ussd_step s on s.session_id = r.id group by s.screen;

-- name: USSDMoves :many
select a.screen, cast(b.screen as text) as next, count(distinct a.session_id) as callers
from (select id from ussd_session where menu_id = $1 order by id desc limit 10000) r
join ussd_step a on a.session_id = r.id join ussd_step b on b.session_id = a.session_id and b.no = a.no + 1
where a.screen <> b.screen group by a.screen, b.screen order by a.screen, b.screen;

-- name: USSDAnswerCounts :many
select s.name, s.text, count(*) as callers
from (select t.id from ussd_session t where t.menu_id = $1 order by t.id desc limit 10000) r
join ussd_saved s on s.menu_id = $1 and s.session_id = r.id
group by s.name, s.text order by s.name, callers desc, s.text;

-- name: SavedUSSDSessions :many
select distinct session_id from ussd_saved where menu_id = $1 and session_id < $2 order by session_id desc limit $3;

-- name: SavedInUSSDSession :many
select * from ussd_saved where menu_id = $1 and session_id = $2 order by at, name;

-- name: USSDSavedOf :many
select * from ussd_saved where session_id = $1 order by at, name;

-- name: JoinedUSSDLists :many
select list, count(*) as people from ussd_joined where account_id = $1 group by list order by list;

-- name: JoinedUSSD :many
select number, at from ussd_joined where account_id = $1 and list = $2 and number > $3 order by number limit $4;

-- name: OldUSSDSessions :many
select id from ussd_session where id < $1 order by id limit 200;

-- name: DeleteUSSDSession :exec
delete from ussd_session where id = $1;

-- name: DeleteUSSDSteps :exec
delete from ussd_step where session_id = $1;

-- name: DeleteUSSDSaved :exec
delete from ussd_saved where session_id = $1;
