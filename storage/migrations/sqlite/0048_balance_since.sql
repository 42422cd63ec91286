-- +goose Up
-- The last reading of each day is found without reading those between.
create index balance_since on balance (account_id, plugin_type, since, id);

-- +goose Down
drop index balance_since;
