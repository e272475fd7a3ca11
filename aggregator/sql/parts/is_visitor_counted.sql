bitAnd(cityHash64(unique_identity), {mask:UInt64}) = 0
  AND unique_identity != toFixedString('', 20)
