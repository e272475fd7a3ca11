-- What reconciliation found of each hour (docs/aggregator.md, Reconciliation): of the last
-- 24 settled ones again and again, of a day once more when it is sealed.  It is what is
-- left when the day's rows are dropped, and what /v1/pipeline sums up.
CREATE TABLE IF NOT EXISTS reconciled_hours
(
    hour           DateTime('UTC'),
    reconciled_at  DateTime64(3, 'UTC'), -- by ClickHouse's clock
    redirected     UInt64,               -- as in redirector_counters,
    not_found      UInt64,               -- of all redirectors
    expired        UInt64,
    blocked        UInt64,
    head           UInt64,
    silent         UInt64,
    produced       UInt64,
    acknowledged   UInt64,
    dropped        UInt64,
    spooled        UInt64,
    replayed       UInt64,
    withheld       UInt64,
    rows_stored    UInt64, -- rows of clicks: of redirectors,
    rows_imported  UInt64, -- and of imports
    rows_late      UInt64, -- of those stored
    rows_repeated  UInt64, -- of an event that another row tells of
    rows_removed   UInt64, -- those of them that are 'repeated'
    unreported     UInt64, -- of redirectors that have told nothing
    events_settled UInt64, -- events, as published
    unknown_ms     UInt64, -- that redirectors have not told of, summed up over them
    unknown        UInt64, -- redirectors that are missing
    inexact        Bool,
    settling       Bool,   -- the watermark had not passed it
    -- By which attempt the hour's day had been sealed before it was reconciled; 0: it was
    -- not.  That tells what is to be reconciled once more, and no time does: attempts only
    -- grow, while ClickHouse's clock may be set back.
    sealed_by      UInt64
)
ENGINE = ReplacingMergeTree(reconciled_at)
PARTITION BY toYYYYMM(hour)
ORDER BY hour;
