SELECT count()
FROM system.mutations
WHERE database = currentDatabase()
  AND table = 'clicks'
  AND NOT is_done
  AND latest_fail_reason = ''
  AND position(command, 'unique_identity = ') > 0
FORMAT TabSeparated
