-- name: InsertList :one
insert into list (uid, token, account_id, state, problem, version, file_name, size, hash, header_key, reading, choices, tally, checksum, again, done, total,
  campaign_id, created_by, created_name, created_at, changed_at, purpose)
values ($1, $2, $3, $4, '', 1, $5, $6, $7, $8, $9, $10, $11, 0, false, 0, $15, 0, $12, $13, $14, $14, $16)
returning id;

-- name: ListByUID :one
select * from list where uid = $1;

-- name: ListByID :one
select * from list where id = $1;

-- name: ListByToken :one
select * from list where token = $1;

-- name: RecentLists :many
select * from list where account_id = $1 and created_by = $2 order by id desc limit $3;

-- name: BusyLists :many
select * from list where state in ('checking', 'making') order by id;

-- name: OldLists :many
select l.* from list l where l.changed_at < $1 and (l.state <> 'made' or not exists (select 1 from campaign c where c.id = l.campaign_id)) order by l.changed_at limit 100;

-- name: CheckedLists :many
select * from list where changed_at > $1 and state = 'checked' order by changed_at;

-- name: UpdateList :execrows
update list set state = $3, problem = $4, header_key = $5, reading = $6, choices = $7, tally = $8, checksum = $9, again = $10, done = $11, total = $12, comparing = false,
  changed_at = $13, version = version + 1
where id = $1 and version = $2;

-- name: ListProgress :execrows
update list set done = $3, total = $4, comparing = $5 where id = $1 and version = $2;

-- name: ListCampaign :execrows
update list set campaign_id = $3 where id = $1 and version = $2 and state = 'making';

-- name: ListMade :execrows
update list set state = 'made', changed_at = $4, done = total, version = version + 1 where id = $1 and version = $2 and state = 'making' and campaign_id = $3;

-- name: DeleteList :execrows
delete from list where id = $1 and version = $2;

-- name: ListMapping :one
select choices from list_mapping where account_id = $1 and header_key = $2;

-- name: PutListMapping :exec
insert into list_mapping (account_id, header_key, choices, changed_at) values ($1, $2, $3, $4)
on conflict (account_id, header_key) do update set choices = excluded.choices, changed_at = excluded.changed_at;

-- name: ShowCampaign :execrows
update campaign set state = 'draft', recipients = $2, parts = $3, unicode = $4, fingerprint = $5, calls_text = $6, calls_pairs = $7, created_at = $8, changed_at = $8
where id = $1 and state = 'hidden';

-- name: HideDraft :execrows
update campaign set state = 'hidden', token = 'hidden ' || token where id = $1 and state = 'draft';

-- name: AbandonedCampaigns :many
select c.id from campaign c where c.state = 'hidden'
  and not exists (select 1 from list l where l.campaign_id = c.id and l.state = 'making')
  and (c.again_of = 0 or c.changed_at < $1) order by c.id limit 10;

-- name: DeleteSomeMessages :execrows
delete from message where id in (select m.id from message m where m.campaign_id = $1 order by m.id limit $2);

-- name: DeleteHidden :execrows
delete from campaign where id = $1 and state = 'hidden';

-- name: ListCorrections :many
select * from list_correction where list_id = $1 order by row_no, col;

-- name: PutCorrection :exec
insert into list_correction (list_id, row_no, col, given, corrected, user_id, user_name, corrected_at, from_row)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (list_id, row_no, col) do update set corrected = excluded.corrected, user_id = excluded.user_id, user_name = excluded.user_name,
  corrected_at = excluded.corrected_at;

-- name: DeleteCorrection :exec
delete from list_correction where list_id = $1 and row_no = $2 and col = $3;

-- name: DeleteRowCorrections :exec
delete from list_correction where list_id = $1 and row_no = $2;

-- name: DeleteCorrections :exec
delete from list_correction where list_id = $1;

-- name: DeleteMadeRows :exec
delete from list_correction where list_correction.list_id = $1 and (
  list_correction.row_no >= (select min(m.row_no) from list_correction m where m.list_id = $1 and m.from_row > 0)
  or exists (select 1 from list_correction m where m.list_id = $1 and m.from_row = list_correction.row_no
    and m.col = list_correction.col));
