toDateTime({start:UInt32}, 'UTC') NOT IN (
    -- include: aggregator/sql/parts/days_dropped_since.sql
)
