sum(e) AS n_events, sum(c) AS n_clicks, sum(b) AS n_bots, sum(p) AS n_prefetches
