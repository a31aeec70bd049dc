-- Roles of the event store: once for each server, by a superuser, in the database
-- that daybook is to have:
--
--   createdb daybook
--   psql --dbname daybook --file deploy/postgres/roles.sql
--   psql --dbname daybook --command '\password daybook_owner' --command '\password daybook'
--
-- daybook_owner owns the schema and brings it to the newest form; nothing else
-- runs as it. daybook is the role of the service: it reads, and appends by the
-- functions of the schema. It can neither change nor remove an entry.
CREATE ROLE daybook_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
CREATE ROLE daybook LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 150;

CREATE SCHEMA daybook AUTHORIZATION daybook_owner;
GRANT USAGE ON SCHEMA daybook TO daybook;

-- Nobody else makes or sees anything here.
REVOKE ALL ON SCHEMA public FROM PUBLIC;
DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO daybook_owner, daybook', current_database());
END $$;
