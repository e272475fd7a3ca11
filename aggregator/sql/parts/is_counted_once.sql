AND (outcome = 'repeated'
    OR (epoch, topic, partition, offset) NOT IN (
        SELECT epoch, topic, partition, offset
        FROM
          -- include: aggregator/sql/parts/unmarked_repeats.sql
        ))
