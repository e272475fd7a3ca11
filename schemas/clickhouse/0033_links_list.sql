-- For lists of links (GET /v1/links of the aggregator); docs/design.md, "Lists of
-- links", has the measurements.
-- A projection in the order of creation: the newest links that a common filter lets
-- pass are found without reading the others, and those of a page lie together; it has
-- all columns that an answer has, or it would not be used.  Indexes of the table's own order: what
-- a rare filter lets pass is found without reading the rest.  Old parts get them in
-- the background; until then answers are as right, and slower.
-- Merges drop superseded versions, so they have to make the projection anew.
ALTER TABLE links
    MODIFY SETTING deduplicate_merge_projection_mode = 'rebuild';

ALTER TABLE links
    ADD PROJECTION IF NOT EXISTS by_creation
    (
        SELECT code, link_id, version, space, generation, state, ttl_class,
               created_at, changed_at, expires_at, url, redirect_status, owner,
               campaign, tags, domain, description, account, creator, editor,
               targets, not_before, max_visits
        ORDER BY created_at, link_id
    );

-- Words: 4 letters of what `q` searches; the expression is that of the query.
ALTER TABLE links
    ADD INDEX IF NOT EXISTS by_words
        lowerUTF8(concat(url, '\n', description, '\n', code))
        TYPE ngrambf_v1(4, 24576, 2, 7) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS by_tag tags TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS by_owner owner TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS by_campaign campaign TYPE bloom_filter(0.01) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS by_account account TYPE bloom_filter(0.01) GRANULARITY 1;

ALTER TABLE links MATERIALIZE PROJECTION by_creation;
ALTER TABLE links MATERIALIZE INDEX by_words;
ALTER TABLE links MATERIALIZE INDEX by_tag;
ALTER TABLE links MATERIALIZE INDEX by_owner;
ALTER TABLE links MATERIALIZE INDEX by_campaign;
ALTER TABLE links MATERIALIZE INDEX by_account;
