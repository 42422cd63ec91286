-- +goose Up
-- What a person has typed and not gone on with, one for each form that was
-- opened: two tabs are two messages. The form of a list has the key "list UID".
create table written_form (
  user_id integer not null references app_user(id),
  account_id integer not null references account(id),
  form_key text not null,
  form text not null,
  saved_at integer not null,
  primary key (user_id, account_id, form_key)
) without rowid;
insert into written_form (user_id, account_id, form_key, form, saved_at)
select user_id, account_id, '', form, saved_at from written;
drop table written;

-- +goose Down
create table written (
  user_id integer not null references app_user(id),
  account_id integer not null references account(id),
  form text not null,
  saved_at integer not null,
  primary key (user_id, account_id)
) without rowid;
drop table written_form;
