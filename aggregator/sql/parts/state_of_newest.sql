multiIf(link_id != present_id OR n_reclaimed > 0, 'reclaimed',
    state IN ('live', 'paused') AND n_ends BETWEEN 1 AND {now:Int64}, 'expired',
    state)
