SELECT uniqExactIf(p.table, p.table IN ('settled', 'ingest_progress')) = 2,
    sumIf(cityHash64(p.table, p.name, p.hash_of_all_files), p.table NOT IN (
        'settled', 'ingest_progress', 'ingest_epochs', 'collectors', 'redirector_counters',
        'reconciled_hours', 'reclaim_runs', 'import_journal'))
FROM system.parts AS p
WHERE p.active AND p.database = currentDatabase()
FORMAT TabSeparated
