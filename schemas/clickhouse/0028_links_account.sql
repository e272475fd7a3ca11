-- The account whose API keys may change the link; '' of links made before there
-- were accounts, which are told by their creator.  The collector writes it, so
-- it is started after this was applied.
ALTER TABLE links
    ADD COLUMN IF NOT EXISTS account LowCardinality(String) AFTER description;
