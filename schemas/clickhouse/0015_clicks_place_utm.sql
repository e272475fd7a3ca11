-- How exact a place is, and the campaign that a link was spread with.  The
-- collector writes these columns, so it is started after this was applied; rows
-- from before have the defaults.
ALTER TABLE clicks
    -- km around latitude and longitude; 0: not known
    ADD COLUMN IF NOT EXISTS accuracy_radius UInt16 AFTER longitude,
    -- of the query string, percent-decoded; each at most 255 bytes
    ADD COLUMN IF NOT EXISTS utm_source LowCardinality(String) AFTER query,
    ADD COLUMN IF NOT EXISTS utm_medium LowCardinality(String) AFTER utm_source,
    ADD COLUMN IF NOT EXISTS utm_campaign LowCardinality(String) AFTER utm_medium,
    ADD COLUMN IF NOT EXISTS utm_term String AFTER utm_campaign,
    ADD COLUMN IF NOT EXISTS utm_content String AFTER utm_term;
