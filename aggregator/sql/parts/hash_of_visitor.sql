cityHash64(unique_identity)
