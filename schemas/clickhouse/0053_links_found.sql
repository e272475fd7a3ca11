-- More of what 0033 began, for lists of links (GET /v1/links); docs/design.md, "Lists of
-- links", has the measurements.  Old parts get these in the background, too.
-- URLs whole: the pieces of one are in by_words, but so are those of most others.
ALTER TABLE links
    ADD INDEX IF NOT EXISTS by_url url TYPE bloom_filter(0.01) GRANULARITY 1;

-- Codes of the most clicked links: by_link_id passes one of 100 granules too many for
-- each link, and so nearly all for a page of them.
ALTER TABLE links
    ADD PROJECTION IF NOT EXISTS by_link
    (
        SELECT link_id, code
        ORDER BY link_id
    );

-- An owner's links lie together; with the columns of those filters that have no index, or it
-- would not be used for them.
ALTER TABLE links
    ADD PROJECTION IF NOT EXISTS by_owner_and_creation
    (
        SELECT owner, created_at, link_id, code, state, domain, account
        ORDER BY owner, created_at, link_id
    );

ALTER TABLE links MATERIALIZE INDEX by_url;
ALTER TABLE links MATERIALIZE PROJECTION by_link;
ALTER TABLE links MATERIALIZE PROJECTION by_owner_and_creation;
