bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), 16)
