cityHash64(reinterpretAsFixedString(ip))
