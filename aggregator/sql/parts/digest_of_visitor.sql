bitShiftRight(cityHash64(unique_identity), 16)
