(hour >= toDateTime(intDiv({head_from:UInt32}, 3600) * 3600, 'UTC')
    AND hour < toDateTime({head_to:UInt32}, 'UTC'))
OR (hour >= toDateTime(intDiv({tail_from:UInt32}, 3600) * 3600, 'UTC')
    AND hour < toDateTime({tail_to:UInt32}, 'UTC'))
