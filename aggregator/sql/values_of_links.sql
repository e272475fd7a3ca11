-- @value@: arrayJoin(tags)
-- Only an edited link has several rows: of a link with a row of version 2 or more, the newest
-- counts, of all others their only row.
SELECT toValidUTF8(a_value), count() AS n_links, toUnixTimestamp64Milli(max(made)) AS n_latest
FROM (
    SELECT @value@ AS a_value, created_at AS made
    FROM links
    WHERE ({every_account:Bool} OR account = {account:String})
      AND ({any_account:Bool} OR account = {caller_account:String})
      AND ({every_owner:Bool}
        OR owner IN (SELECT arrayJoin(splitByChar('\n', {caller_owners:String}))))
      AND state != 'forgotten'
      AND
      -- include: aggregator/sql/parts/is_newest_version.sql
    )
WHERE a_value != '' AND positionCaseInsensitiveUTF8(a_value, {q:String}) > 0
GROUP BY a_value
ORDER BY n_links DESC, n_latest DESC, a_value
LIMIT {limit:UInt64}
FORMAT TabSeparated
