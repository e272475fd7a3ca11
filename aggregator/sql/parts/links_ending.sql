-- @where@: 1
-- @end_beyond@: include aggregator/sql/parts/end_before_place.sql
-- @renewed_beyond@: include aggregator/sql/parts/renewed_before_place.sql
-- @of_state@: AND expires_at > fromUnixTimestamp64Milli({now:Int64}, 'UTC')
-- @of_links@: AND link_id IN (SELECT link_id FROM links)
-- @direction@: DESC
-- Any end that a link had or has by an edit or a visit: its present one is among them, and a
-- page tells it from the others.
SELECT n_place, link_id, '' AS a_code
FROM (
    SELECT toUInt64(toUnixTimestamp64Milli(expires_at)) AS n_place, link_id
    FROM links
    WHERE @where@
      AND expires_at > fromUnixTimestamp64Milli(0, 'UTC')
      @of_state@
      AND @end_beyond@
    ORDER BY expires_at @direction@, link_id @direction@
    LIMIT {candidates:UInt64}
    UNION ALL
    SELECT toUInt64(toUnixTimestamp64Milli(ends_at)), link_id
    FROM link_ends
    WHERE @renewed_beyond@
      @of_links@
    ORDER BY ends_at @direction@, link_id @direction@
    LIMIT {candidates:UInt64})
ORDER BY n_place @direction@, link_id @direction@
LIMIT {candidates:UInt64}
