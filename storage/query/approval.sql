-- name: SetApproval :exec
update campaign set asked_by = $2, asked_name = $3, asked_at = $4, approved_by = $5, approved_name = $6, approved_at = $7,
  returned = $8, returned_by = $9, returned_name = $10, returned_at = $11
where id = $1;

-- name: SetApproveAbove :exec
update account set approve_above = $2 where id = $1;

-- name: CountAwaiting :one
select count(*) from campaign where account_id = $1 and state = 'awaiting_approval' and created_by <> $2 and asked_by <> $2;
