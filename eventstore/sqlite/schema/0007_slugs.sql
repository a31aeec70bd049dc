-- Erasures are rare: they look through the slugs, and appends pay for no index.
DROP INDEX slugs_record;
