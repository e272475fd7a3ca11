-- @open@: AND ts >= toDateTime64(0, 3, 'UTC')
+ (
    SELECT count()
    FROM clicks
    WHERE link_id = {link_id:UInt64} @open@
      AND
      -- include: aggregator/sql/parts/is_of_caller.sql
)
