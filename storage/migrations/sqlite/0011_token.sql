-- +goose Up
create table token (
  id integer primary key autoincrement,
  name text not null,
  user_id integer not null references app_user(id),
  hash blob not null unique,
  hint text not null,
  created_at integer not null,
  used_at integer not null,
  revoked_at integer not null
);
create index token_user on token (user_id, id);

create table token_request (
  token_id integer not null references token(id),
  key text not null,
  request blob not null,
  campaign_id integer not null,
  created_at integer not null,
  primary key (token_id, key)
) without rowid;
create index token_request_age on token_request (created_at);

-- +goose Down
drop table token_request;
drop table token;
