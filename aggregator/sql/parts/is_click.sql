outcome = 'redirected'
