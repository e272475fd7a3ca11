SELECT o, a, groupArray({max:UInt64})(id)
FROM (
    SELECT link_id AS id, argMax(owner, version) AS o, argMax(account, version) AS a
    FROM links
    WHERE link_id IN (
        SELECT link_id
        FROM links
        WHERE ({any_account:UInt8} OR account = {account:String})
          AND ({any_owner:UInt8} OR owner = {owner:String})
          AND ({any_bound_account:UInt8} OR account = {bound_account:String})
          AND ({any_bound_owner:UInt8}
            OR owner IN (SELECT arrayJoin(splitByChar('\n', {bound_owners:String})))))
    GROUP BY link_id)
GROUP BY o, a
FORMAT TabSeparated
