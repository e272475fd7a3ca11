-- @condition@: include aggregator/sql/parts/is_human.sql
, uniqCombined64StateIf(14)(unique_identity, @condition@) AS vi,
    uniqCombined64StateIf(14)(ip, @condition@) AS ad
