(
    SELECT if(n_holders = n_whole AND n_holders = n_accounts, n_holders, 18446744073709551615)
    FROM (
        SELECT sumIf(pv, part IN ('sole', 'holder')) AS n_holders,
            sumIf(pv, part IN ('sole', 'account')) AS n_accounts,
            sumIf(pv, part IN ('sole', 'whole')) AS n_whole
        FROM link_days
        WHERE day = toDate(toDateTime({start:UInt32}, 'UTC')) AND attempt = {attempt:UInt64})
)
