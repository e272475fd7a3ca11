-- @open_rows@: include aggregator/sql/parts/open_rows_of_link.sql
SELECT (
        SELECT sum(events)
        -- include: aggregator/sql/parts/sealed_slots_of_link.sql
        )
    @open_rows@
FORMAT TabSeparated
