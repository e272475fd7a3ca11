CAST(NULL AS Nullable(UInt64)) AS n_visitors, CAST(NULL AS Nullable(UInt64)) AS n_ips
