-- @rows@: include aggregator/sql/parts/rows_of_question.sql
-- @ids@: 1, 2
SELECT link_id, toValidUTF8(any(code)), toValidUTF8(argMax(account, ts)),
    toValidUTF8(argMax(owner, ts))
@rows@
  AND link_id IN (@ids@)
GROUP BY link_id
FORMAT TabSeparated
