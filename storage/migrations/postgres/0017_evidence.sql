-- +goose Up
create index attempt_campaign on attempt (campaign_id, id);
create index audit_object on audit (object, id);

-- +goose Down
drop index audit_object;
drop index attempt_campaign;
