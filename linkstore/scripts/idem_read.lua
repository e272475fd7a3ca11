-- uses: lib_time
-- KEYS record    Replies {now, record or ''}.
return {now_ms(), redis.call('GET', KEYS[1]) or ''}
