-- The results of reconciliation for each hour (docs/aggregator.md, Reconciliation): for the
-- last 24 settled hours repeatedly, for a day once more when it is sealed.  They remain
-- when the day's rows are dropped, and /v1/pipeline sums them up.
CREATE TABLE IF NOT EXISTS reconciled_hours
(
    hour           DateTime('UTC'),
    reconciled_at  DateTime64(3, 'UTC'), -- by ClickHouse's clock
    redirected     UInt64,               -- as in redirector_counters,
    not_found      UInt64,               -- over all redirectors
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
    rows_stored    UInt64, -- rows of clicks: from redirectors,
    rows_imported  UInt64, -- and from imports
    rows_late      UInt64, -- part of rows_stored
    rows_repeated  UInt64, -- another row has the same event
    rows_removed   UInt64, -- the part of them that is 'repeated'
    unreported     UInt64, -- of redirectors without a report
    events_settled UInt64, -- events, as published
    unknown_ms     UInt64, -- not reported by redirectors, summed up over them
    unknown        UInt64, -- redirectors that are missing
    inexact        Bool,
    settling       Bool,   -- the watermark had not reached its end
    waits          Bool,   -- rows waited to be settled: none was lost before that
    -- The attempt by which the hour's day had been sealed before the hour was reconciled;
    -- 0: it was not sealed.  It decides what is reconciled once more, and no time does:
    -- attempts only grow, while ClickHouse's clock may be set back.
    sealed_by      UInt64
)
ENGINE = ReplacingMergeTree(reconciled_at)
PARTITION BY toYYYYMM(hour)
ORDER BY hour;
