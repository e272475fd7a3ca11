-- @time@: slot
-- @identities@: toFixedString(unhex('00'), 20)
-- @untils@: toInt64(1)
-- @state@: people
arrayExists((unique_identity, u) -> toUnixTimestamp(@time@) <= u
        AND finalizeAggregation(
            arrayReduce('uniqCombinedMergeState(14)', [@state@,
                initializeAggregation('uniqCombinedState(14)',
                    -- include: aggregator/sql/parts/hash_of_visitor.sql
                    )]))
            = finalizeAggregation(@state@),
    [@identities@], [@untils@])
