toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC')
