-- What of a visit goes on to a link's URL.  The collector writes these columns, so it is
-- started after this was applied; rows from before have the defaults.
ALTER TABLE links
    ADD COLUMN IF NOT EXISTS pass_query LowCardinality(String) DEFAULT 'none' AFTER max_visits,
    ADD COLUMN IF NOT EXISTS pass_path Bool AFTER pass_query;
