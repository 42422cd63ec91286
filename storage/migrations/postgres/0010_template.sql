-- +goose Up
create table template (
  account_id bigint not null references account(id),
  id bigint not null,
  company_id bigint not null,
  name text not null,
  text text not null,
  is_approved boolean not null,
  is_active boolean not null,
  created_date text not null,
  approved_date text not null,
  primary key (account_id, id)
);

create table template_reading (
  account_id bigint not null primary key references account(id),
  read_at bigint not null,
  failure text not null
);

-- +goose Down
drop table template_reading;
drop table template;
