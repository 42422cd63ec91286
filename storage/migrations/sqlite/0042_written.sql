-- +goose Up
-- What a person has typed into the form for a new message and not gone on
-- with, as the form: one a person and account.
create table written (
  user_id integer not null references app_user(id),
  account_id integer not null references account(id),
  form text not null,
  saved_at integer not null,
  primary key (user_id, account_id)
) without rowid;

-- +goose Down
drop table written;
