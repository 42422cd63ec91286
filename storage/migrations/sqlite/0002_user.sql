-- +goose Up
create table app_user (
  id integer primary key autoincrement,
  email text not null unique,
  name text not null,
  role text not null,
  password_hash text not null,
  active integer not null,
  created_at integer not null
);

create table session (
  hash blob primary key,
  user_id integer not null references app_user(id),
  account_id integer not null,
  created_at integer not null,
  seen_at integer not null,
  agent text not null
) without rowid;
create index session_by_user on session (user_id);

create table invite (
  hash blob primary key,
  email text not null,
  role text not null,
  created_by integer not null,
  created_at integer not null,
  expires_at integer not null,
  used_at integer not null
) without rowid;

create table audit (
  id integer primary key autoincrement,
  at integer not null,
  user_id integer not null,
  user_name text not null,
  action text not null,
  object text not null,
  detail text not null
);

-- +goose Down
drop table audit;
drop table invite;
drop table session;
drop table app_user;
