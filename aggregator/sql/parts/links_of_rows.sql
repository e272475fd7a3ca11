-- @is_now@: ts >= toDateTime64({start:UInt32}, 3, 'UTC')
-- @rows@: include aggregator/sql/parts/rows_of_question.sql
SELECT link_id AS link, @is_now@ AS is_now,
    -- include: aggregator/sql/parts/answer_counts_of_rows.sql
@rows@
  AND link_id != 0
GROUP BY link, is_now
