-- +goose Up
-- The table of internal/sms/campaignstate.go, held by the engine too: a test
-- compares the two. held is not stored: it is paused before the first message.
create table campaign_transition (
  from_state text not null,
  to_state text not null,
  primary key (from_state, to_state)
) without rowid;
insert into campaign_transition (from_state, to_state) values
  ('hidden', 'draft'), ('draft', 'hidden'),
  ('draft', 'running'), ('draft', 'scheduled'), ('draft', 'awaiting_approval'), ('draft', 'cancelled'),
  ('awaiting_approval', 'running'), ('awaiting_approval', 'scheduled'), ('awaiting_approval', 'held'),
  ('awaiting_approval', 'draft'), ('awaiting_approval', 'cancelled'),
  ('scheduled', 'running'), ('scheduled', 'held'), ('scheduled', 'draft'), ('scheduled', 'cancelled'),
  ('held', 'running'), ('held', 'scheduled'), ('held', 'draft'), ('held', 'cancelled'),
  ('running', 'paused'), ('running', 'stopped'), ('running', 'finished'), ('running', 'cancelled'),
  ('paused', 'running'), ('paused', 'stopped'), ('paused', 'finished'), ('paused', 'cancelled'),
  ('stopped', 'running'), ('stopped', 'paused'), ('stopped', 'finished'), ('stopped', 'cancelled'),
  ('finished', 'running');

-- +goose StatementBegin
create trigger campaign_transition before update of state, send_at, started_at on campaign
when case when old.state = 'paused' and old.send_at > 0 and old.started_at = 0 then 'held' else old.state end
  <> case when new.state = 'paused' and new.send_at > 0 and new.started_at = 0 then 'held' else new.state end
and not exists (
  select 1 from campaign_transition
  where from_state = case when old.state = 'paused' and old.send_at > 0 and old.started_at = 0 then 'held' else old.state end
    and to_state = case when new.state = 'paused' and new.send_at > 0 and new.started_at = 0 then 'held' else new.state end)
begin
  select raise(abort, 'forbidden campaign transition');
end;
-- +goose StatementEnd

-- +goose Down
drop trigger campaign_transition;
drop table campaign_transition;
