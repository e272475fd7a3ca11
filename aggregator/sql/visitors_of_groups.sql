-- @condition@: include aggregator/sql/parts/is_human.sql
-- @owners@: AND account = 'acme'
-- @row_values@: [(0, toString(verdict)), (1, toString(country))]
-- @is_answered@: include aggregator/sql/parts/is_answered_group.sql
-- @open_visitors@: include aggregator/sql/parts/open_visitors_of_owners.sql
SELECT d, toValidUTF8(v) AS group_value, uniqExact(who)
FROM (
    SELECT (arrayJoin(@row_values@) AS pair).1 AS d, pair.2 AS v, visitor_digest AS who
    FROM sampled_clicks
    WHERE rarity >= {rarity:UInt8}
      AND visitor_digest != 0
      AND @condition@
      @owners@
      AND slot >= toDateTime({from:UInt32}, 'UTC')
      AND slot < toDateTime({to:UInt32}, 'UTC')
      AND attempt = transform(toUInt32(intDiv(toUnixTimestamp(slot), 86400) * 86400),
            {days:Array(UInt32)}, {attempts:Array(UInt64)}, toUInt64(0))
    @open_visitors@)
@is_answered@
GROUP BY d, group_value
FORMAT TabSeparated
