toUInt8(least(9, 1 + bitCount(bitAnd(
    bitNot(bitShiftRight(cityHash64(unique_identity), 4)),
    bitShiftRight(cityHash64(unique_identity), 4) - 1))))
