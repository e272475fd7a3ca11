(unit >= toDateTime(intDiv({head_from:UInt32}, 3600) * 3600, 'UTC')
    AND unit < toDateTime({head_to:UInt32}, 'UTC'))
OR (unit >= toDateTime(intDiv({tail_from:UInt32}, 3600) * 3600, 'UTC')
    AND unit < toDateTime({tail_to:UInt32}, 'UTC'))
