outcome = 'redirected' AND verdict != 'human'
