-- +goose Up
create table template (
  account_id integer not null references account(id),
  id integer not null,
  company_id integer not null,
  name text not null,
  text text not null,
  is_approved integer not null,
  is_active integer not null,
  created_date text not null,
  approved_date text not null,
  primary key (account_id, id)
) without rowid;

create table template_reading (
  account_id integer not null primary key references account(id),
  read_at integer not null,
  failure text not null
) without rowid;

-- +goose Down
drop table template_reading;
drop table template;
