sum(n) AS nn, uniqExactArray(arrayConcat(hv, ov)), uniqExactArray(arrayConcat(hi, oi)),
uniqExactArray(hv), uniqExactArray(hi), sum(c) - sum(b) - sum(p) AS e, nn - e
