if(toUnixTimestamp64Milli(expires_at) = 0, 0,
    greatest(toUnixTimestamp64Milli(expires_at), n_renewed))
