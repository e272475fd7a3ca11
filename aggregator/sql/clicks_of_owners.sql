-- @answer_part@: if(grouping(bucket) = 0, 'bucket', 'total')
-- @bucket@: roundDown(toUnixTimestamp(s), CAST('[0,3600]', 'Array(Int64)'))
-- @sets@: GROUP BY GROUPING SETS ((bucket), ())
-- @visitors@: people
-- @addresses@: people_ips
-- @open_slots@: include aggregator/sql/parts/open_slots_of_owners.sql
-- @groups@: include aggregator/sql/parts/answer_values.sql
-- @values@: include aggregator/sql/parts/grouped_values_of_owners.sql
SELECT @answer_part@ AS answer_part, @bucket@ AS bucket, '' AS group_value, '' AS second_value,
    -- include: aggregator/sql/parts/answer_sums.sql
    , toNullable(toUInt64(round(-4294967296 * log1p(-least(
        uniqCombined64Array(17)(v), 4294967295) / 4294967296)))) AS n_visitors,
    toNullable(toUInt64(round(-4294967296 * log1p(-least(
        uniqCombined64Array(17)(i), 4294967295) / 4294967296)))) AS n_ips
FROM (
    SELECT slot AS s, events AS e, clicks AS c, bots AS b, prefetches AS p, @visitors@ AS v,
        @addresses@ AS i
    FROM owner_slots
    WHERE
      -- include: aggregator/sql/parts/copied_row_is_of_owners.sql
      AND slot >= toDateTime({from:UInt32}, 'UTC')
      AND slot < toDateTime({to:UInt32}, 'UTC')
      AND attempt = transform(toUInt32(intDiv(toUnixTimestamp(slot), 86400) * 86400),
            {days:Array(UInt32)}, {attempts:Array(UInt64)}, toUInt64(0))
    @open_slots@)
@sets@
@groups@
FORMAT TabSeparated
