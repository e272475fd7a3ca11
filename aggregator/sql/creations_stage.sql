INSERT INTO creations (hour, attempt, space, code_length, ttl_class, account, owner, domain,
    source, links)
SELECT toDateTime({start:UInt32}, 'UTC'), {attempt:UInt64}, space, code_length, ttl_class,
    account, owner, domain, source, count()
FROM created_links FINAL
WHERE slot >= toDateTime({start:UInt32}, 'UTC')
  AND slot < toDateTime({start:UInt32} + 3600, 'UTC')
GROUP BY space, code_length, ttl_class, account, owner, domain, source
