-- The owners of each granule, so that what is read of rows for an owner is what lies by
-- that owner's links: of the day that is open, of two dimensions, with filters.  A granule
-- is of few links, and most links are of one owner.  It is made with new parts and by
-- merges; days that are closed are in owners' own tables.
ALTER TABLE clicks
    ADD INDEX IF NOT EXISTS owners owner TYPE set(256) GRANULARITY 1;
