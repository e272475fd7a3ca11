outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')
