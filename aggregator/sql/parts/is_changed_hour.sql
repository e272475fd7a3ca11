(reported.n_blocks != done.n_blocks OR reported.n_rows != done.n_rows)
