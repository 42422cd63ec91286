-- +goose Up
-- Menus as staff have them in work; ussd_version is what callers walked through.
create table ussd_menu (
  id integer primary key autoincrement,
  account_id integer not null references account(id),
  draft text not null,
  revision integer not null,
  changed_at integer not null,
  published integer not null,
  secret blob not null
);
create index ussd_menu_account on ussd_menu (account_id, id);

create table ussd_version (
  menu_id integer not null references ussd_menu(id),
  no integer not null,
  body text not null,
  at integer not null,
  by_id integer not null,
  by_name text not null,
  primary key (menu_id, no)
) without rowid;

-- Sessions have ids that grow with the time at which they began.
create table ussd_session (
  id integer not null primary key,
  account_id integer not null,
  menu_id integer not null,
  version integer not null,
  number text not null,
  network text not null,
  code text not null,
  begun_at integer not null,
  last_at integer not null,
  ended_at integer not null,
  ended text not null,
  steps integer not null,
  slowest integer not null,
  screen text not null,
  trial integer not null,
  service_id text not null,
  ussd_id text not null,
  status text not null,
  body text not null
);
create index ussd_session_account on ussd_session (account_id, id);
create index ussd_session_menu on ussd_session (menu_id, id);
create index ussd_session_open on ussd_session (account_id, id) where ended_at = 0;
create index ussd_session_slowest on ussd_session (account_id, slowest);

create table ussd_step (
  session_id integer not null,
  no integer not null,
  at integer not null,
  screen text not null,
  input text not null,
  text text not null,
  took integer not null,
  ends integer not null,
  primary key (session_id, no)
) without rowid;

create table ussd_saved (
  session_id integer not null,
  account_id integer not null,
  menu_id integer not null,
  number text not null,
  name text not null,
  text text not null,
  at integer not null,
  primary key (menu_id, session_id, name)
) without rowid;
create index ussd_saved_session on ussd_saved (session_id);

create table ussd_joined (
  account_id integer not null,
  list text not null,
  number text not null,
  at integer not null,
  primary key (account_id, list, number)
) without rowid;

-- +goose Down
drop table ussd_joined;
drop table ussd_saved;
drop table ussd_step;
drop table ussd_session;
drop table ussd_version;
drop table ussd_menu;
