(held.n_attempt <= done.n_attempt
  OR reported.n_blocks != held.n_blocks
  OR reported.n_rows != held.n_rows)
