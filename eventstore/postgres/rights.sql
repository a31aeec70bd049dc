-- What the service may do in a schema that another role owns: @ is the schema, $ the role.
-- It appends, and keeps the present state of records. Of the log it changes nothing.
GRANT USAGE ON SCHEMA @ TO "$";
GRANT SELECT ON ALL TABLES IN SCHEMA @ TO "$";
GRANT SELECT, UPDATE ON SEQUENCE @.ids TO "$";
GRANT INSERT ON @.entries, @.commits, @.records, @.claims, @.names, @.slugs, @.receipts, @.checkpoints, @.leases TO "$";
GRANT UPDATE (version, position, secret, erased) ON @.records TO "$";
GRANT UPDATE (note) ON @.checkpoints TO "$";
GRANT UPDATE (kept) ON @.receipts TO "$";
GRANT UPDATE (holder, epoch, until, term) ON @.leases TO "$";
GRANT DELETE ON @.claims, @.names, @.receipts TO "$";
GRANT EXECUTE ON FUNCTION @.erase, @.last_counted, @.last_time TO "$";
