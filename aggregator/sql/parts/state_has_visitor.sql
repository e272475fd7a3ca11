-- @time@: slot
-- @identities@: toFixedString(unhex('00'), 20)
-- @untils@: toInt64(1)
arrayExists((x, u) -> toUnixTimestamp(@time@) <= u
        AND finalizeAggregation(
            arrayReduce('uniqCombined64MergeState(14)',
                [visitors, initializeAggregation('uniqCombined64State(14)', x)]))
            = finalizeAggregation(visitors),
    [@identities@], [@untils@])
