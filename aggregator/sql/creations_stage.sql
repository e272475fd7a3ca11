INSERT INTO creations (by_owner, hour, attempt, space, code_length, ttl_class, account, owner,
    domain, source, links)
SELECT k, toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, space, code_length, ttl_class,
    account, o, domain, source, sum(n)
FROM (
    SELECT space, code_length, ttl_class, account, owner, domain, source, count() AS n
    FROM created_links FINAL
    WHERE slot >= toDateTime({start:UInt32}, 'UTC')
      AND slot < toDateTime({start:UInt32} + 3600, 'UTC')
    GROUP BY space, code_length, ttl_class, account, owner, domain, source)
ARRAY JOIN [true, false] AS k, [owner, ''] AS o
GROUP BY k, space, code_length, ttl_class, account, o, domain, source
