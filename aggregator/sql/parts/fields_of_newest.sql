toValidUTF8(code), toValidUTF8(url), toValidUTF8(
    -- include: aggregator/sql/parts/state_of_newest.sql
    AS a_state), toValidUTF8(space), toValidUTF8(ttl_class), toValidUTF8(description),
toValidUTF8(owner), toValidUTF8(account), toValidUTF8(campaign), toValidUTF8(domain),
toValidUTF8(creator), toValidUTF8(editor), toValidUTF8(toJSONString(tags)),
toValidUTF8(toJSONString(targets)), toValidUTF8(pass_query), toUInt8(pass_path), generation, version, redirect_status,
toUnixTimestamp64Milli(created_at), toUnixTimestamp64Milli(changed_at),
    -- include: aggregator/sql/parts/end_of_newest.sql
    AS n_ends, toUnixTimestamp64Milli(not_before), max_visits, n_reclaimed
