uniqCombined64StateIf(14)(unique_identity, outcome = 'redirected' AND verdict = 'human')
    + uniqCombined64StateIf(14)(unique_identity, outcome = 'redirected' AND verdict != 'human')
    AS s0,
uniqCombined64StateIf(14)(ip, outcome = 'redirected' AND verdict = 'human')
    + uniqCombined64StateIf(14)(ip, outcome = 'redirected' AND verdict != 'human') AS s1,
uniqCombined64StateIf(14)(unique_identity, outcome = 'redirected' AND verdict = 'human') AS s2,
uniqCombined64StateIf(14)(ip, outcome = 'redirected' AND verdict = 'human') AS s3
