part IN ('sole', multiIf(
    {any_account:Bool}, 'whole', {every_owner:Bool}, 'account', 'holder'))
AND
-- include: aggregator/sql/parts/is_of_caller.sql
