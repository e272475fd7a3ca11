redirected, not_found, expired, blocked, head, silent, produced, acknowledged, dropped,
    spooled, replayed, withheld, rows_stored, rows_imported, rows_late, rows_repeated,
    rows_removed, unreported, events_settled, unknown_ms, unknown,
