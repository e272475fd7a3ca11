-- @digests@: 1, 2
-- @type@: UInt64
-- @untils@: toInt64(1), toInt64(2)
transform(x, CAST([@digests@], 'Array(@type@)'), [@untils@], toInt64(-1))
    >= toInt64(toUnixTimestamp(slot))
