-- @source@: (SELECT count() FROM clicks WHERE link_id != 0)
-- @settled@: (SELECT sum(effective + ineffective) FROM link_slots)
-- @staged@: (SELECT sum(events) FROM sealed_slots WHERE attempt = {attempt:UInt64})
SELECT @source@, @settled@, @staged@
FORMAT TabSeparated
