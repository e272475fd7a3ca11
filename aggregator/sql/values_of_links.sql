-- @value@: arrayJoin(tags)
-- @of_links@: include aggregator/sql/parts/of_links_asked_for.sql
-- Only an edited link has several rows: of a link with a row of version 2 or more, the newest
-- counts, of all others their only row.  Sets of edited links are limited to those with a row
-- of any version that passes, unless all links pass.
SELECT toValidUTF8(a_value), count() AS n_links, toUnixTimestamp64Milli(max(made)) AS n_latest
FROM (
    SELECT @value@ AS a_value, created_at AS made
    FROM links
    WHERE
      -- include: aggregator/sql/parts/is_link_asked_for.sql
      AND state != 'forgotten'
      AND
      -- include: aggregator/sql/parts/is_newest_version.sql
    )
WHERE a_value != '' AND positionCaseInsensitiveUTF8(a_value, {q:String}) > 0
GROUP BY a_value
ORDER BY n_links DESC, n_latest DESC, a_value
LIMIT {limit:UInt64}
FORMAT TabSeparated
