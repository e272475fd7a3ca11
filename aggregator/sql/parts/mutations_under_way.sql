FROM system.mutations
WHERE database = currentDatabase()
  AND table = 'clicks'
  AND NOT is_done
  AND latest_fail_reason = ''
