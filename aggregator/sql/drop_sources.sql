SELECT hex(topic), epoch, partition, max(last)
FROM dropped_sources
WHERE attempt = {dropped:UInt64} AND day = toDate(toDateTime({start:UInt32}, 'UTC'))
GROUP BY topic, epoch, partition
FORMAT TabSeparated
