toUInt32(bitShiftRight(cityHash64(unique_identity), 32))
