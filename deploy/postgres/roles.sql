-- Roles of the event store: once for each server, by a superuser, in the database
-- that daybook is to have:
--
--   createdb --encoding UTF8 --template template0 daybook
--   psql --dbname daybook --file deploy/postgres/roles.sql
--   psql --dbname daybook --command '\password daybook_owner' --command '\password daybook'
--   daybook migrate --store postgres://daybook_owner:…@…/daybook --service-role daybook_service
--
-- The last line again with each new version, before the service starts.
--
-- daybook_owner owns the schema and brings it to the newest form; nothing else
-- runs as it. daybook_service has the rights that the owner's migrations give:
-- to read, to append, and to keep what is present; it can neither change nor remove an
-- entry, but for making those of an erased record blank. daybook is the login of the
-- service.
CREATE ROLE daybook_owner LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
CREATE ROLE daybook_service NOLOGIN;
CREATE ROLE daybook LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION CONNECTION LIMIT 180 IN ROLE daybook_service;

CREATE SCHEMA daybook AUTHORIZATION daybook_owner;

-- Nobody else makes or sees anything here.
REVOKE ALL ON SCHEMA public FROM PUBLIC;
DO $$
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO daybook_owner, daybook', current_database());
    -- daybook erase --compact ends with a checkpoint; before PostgreSQL 15 only a
    -- superuser may ask for one.
    IF current_setting('server_version_num')::int >= 150000 THEN
        GRANT pg_checkpoint TO daybook_owner;
    END IF;
END $$;
