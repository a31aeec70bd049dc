-- Gives the roles of roles.sql the passwords of the environment (OWNER_PASSWORD,
-- STORE_PASSWORD), for psql 15 or later. A password that is not there stops it.
\set ON_ERROR_STOP on
\getenv owner OWNER_PASSWORD
\getenv store STORE_PASSWORD
ALTER ROLE daybook_owner PASSWORD :'owner';
ALTER ROLE daybook PASSWORD :'store';
