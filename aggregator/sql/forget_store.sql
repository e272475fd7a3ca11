-- @entries@: (toUInt64(0), '00', toInt64(1))
INSERT INTO forgotten (link_id, visitor_id, visits_until, listed_by)
SELECT e.1, toFixedString(unhex(e.2), 20), fromUnixTimestamp64Milli(e.3, 'UTC'), {by:String}
FROM (SELECT arrayJoin([@entries@]) AS e)
