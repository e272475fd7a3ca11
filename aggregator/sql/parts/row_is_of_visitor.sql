-- @identities@: toFixedString(unhex('00'), 20)
-- @visitors@: '00'
-- @untils@: toInt64(1)
unique_identity IN (@identities@)
  AND toUnixTimestamp64Milli(least(original_ts, append_time))
    <= transform(hex(unique_identity), [@visitors@], [@untils@], toInt64(-1))
