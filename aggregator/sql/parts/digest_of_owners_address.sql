toUInt32(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 32))
