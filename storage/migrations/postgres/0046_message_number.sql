-- +goose Up
-- Messages by the last ten digits of their numbers, backwards: 2348031234567 is
-- 7654321308, and 27 is 7200000000. As an index of the table it took most of the
-- time of storing a long list, each row at a place of its own; this is filled in
-- its own order before the hidden campaign of a list is shown.
create table message_number (
  account_id bigint not null,
  tail bigint not null,
  message_id bigint not null,
  primary key (account_id, tail, message_id)
);
insert into message_number (account_id, tail, message_id)
select account_id, cast(substr('0000000000' || number, length(number) + 10, 1) || substr('0000000000' || number, length(number) + 9, 1) || substr('0000000000' || number, length(number) + 8, 1) || substr('0000000000' || number, length(number) + 7, 1) || substr('0000000000' || number, length(number) + 6, 1) || substr('0000000000' || number, length(number) + 5, 1) || substr('0000000000' || number, length(number) + 4, 1) || substr('0000000000' || number, length(number) + 3, 1) || substr('0000000000' || number, length(number) + 2, 1) || substr('0000000000' || number, length(number) + 1, 1) as bigint) as tail, id from message
where number ~ '^[0-9]+$' order by 1, 2, 3;
drop index message_tail;
-- +goose StatementBegin
create function message_number() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if new.number ~ '^[0-9]+$' and not exists (select 1 from campaign where id = new.campaign_id and state = 'hidden') then
      insert into message_number (account_id, tail, message_id)
      values (new.account_id, cast(substr('0000000000' || new.number, length(new.number) + 10, 1) || substr('0000000000' || new.number, length(new.number) + 9, 1) || substr('0000000000' || new.number, length(new.number) + 8, 1) || substr('0000000000' || new.number, length(new.number) + 7, 1) || substr('0000000000' || new.number, length(new.number) + 6, 1) || substr('0000000000' || new.number, length(new.number) + 5, 1) || substr('0000000000' || new.number, length(new.number) + 4, 1) || substr('0000000000' || new.number, length(new.number) + 3, 1) || substr('0000000000' || new.number, length(new.number) + 2, 1) || substr('0000000000' || new.number, length(new.number) + 1, 1) as bigint), new.id);
    end if;
  elsif old.number ~ '^[0-9]+$' then
    delete from message_number where account_id = old.account_id and tail = cast(substr('0000000000' || old.number, length(old.number) + 10, 1) || substr('0000000000' || old.number, length(old.number) + 9, 1) || substr('0000000000' || old.number, length(old.number) + 8, 1) || substr('0000000000' || old.number, length(old.number) + 7, 1) || substr('0000000000' || old.number, length(old.number) + 6, 1) || substr('0000000000' || old.number, length(old.number) + 5, 1) || substr('0000000000' || old.number, length(old.number) + 4, 1) || substr('0000000000' || old.number, length(old.number) + 3, 1) || substr('0000000000' || old.number, length(old.number) + 2, 1) || substr('0000000000' || old.number, length(old.number) + 1, 1) as bigint)
      and message_id = old.id;
  end if;
  return null;
end;
$$;
-- +goose StatementEnd
create trigger message_number_new after insert on message for each row execute function message_number();
create trigger message_number_gone after delete on message for each row execute function message_number();
-- A number only changes when it is removed because its time is over.
create trigger message_number_removed after update of number on message for each row
when (new.number <> old.number) execute function message_number();

-- +goose Down
drop trigger message_number_removed on message;
drop trigger message_number_gone on message;
drop trigger message_number_new on message;
drop function message_number;
create index message_tail on message (account_id, (substr('0000000000' || number, length(number) + 10, 1) || substr('0000000000' || number, length(number) + 9, 1) || substr('0000000000' || number, length(number) + 8, 1) || substr('0000000000' || number, length(number) + 7, 1) || substr('0000000000' || number, length(number) + 6, 1) || substr('0000000000' || number, length(number) + 5, 1) || substr('0000000000' || number, length(number) + 4, 1) || substr('0000000000' || number, length(number) + 3, 1) || substr('0000000000' || number, length(number) + 2, 1) || substr('0000000000' || number, length(number) + 1, 1)), id) where number <> '';
drop table message_number;
