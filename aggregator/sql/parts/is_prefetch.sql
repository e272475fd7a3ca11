outcome = 'redirected' AND verdict = 'prefetch'
