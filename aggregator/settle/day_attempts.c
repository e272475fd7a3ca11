#include "aggregator/settle/day_attempts.h"

void day_attempts_put(struct buf *sql)
{
	buf_puts(sql, "(SELECT intDiv(toUInt32(unit), 86400) * 86400 AS d, ");
	for (size_t i = 0; i < COPIED_KINDS; i++)
		buf_printf(sql, "maxIf(attempt, kind = '%s') AS %s, ",
			   derived_copy((enum copied)i)->kind,
			   derived_copy((enum copied)i)->newest);
	buf_puts(sql, "maxIf(attempt, kind = 'link_day') AS n_day, "
		      "maxIf(attempt, kind = 'hour') AS n_hour, "
		      "if(argMaxIf((blocks, rows), attempt, kind = 'held_day')"
		      " = argMaxIf((blocks, rows), attempt, "
		      "kind = 'link_day'), 0, "
		      "maxIf(attempt, kind = 'held_day')) AS n_held, ");
	for (size_t i = 0; i < COPIED_KINDS; i++)
		if (derived_copy((enum copied)i)->based)
			buf_printf(sql, "maxIf(attempt, kind = '%s') AS %s, ",
				   derived_copy((enum copied)i)->base,
				   derived_copy((enum copied)i)->based);
	buf_puts(sql, "argMaxIf(rows, attempt, kind = 'link_day') AS n_linked, "
		      "maxIf(attempt, kind = 'dropped_day') AS n_dropped "
		      "FROM settled WHERE kind IN ('hour', 'link_day', "
		      "'held_day', ");
	for (size_t i = 0; i < COPIED_KINDS; i++)
		buf_printf(sql, "'%s', ", derived_copy((enum copied)i)->kind);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		if (derived_copy((enum copied)i)->based)
			buf_printf(sql, "'%s', ",
				   derived_copy((enum copied)i)->base);
	buf_puts(sql, "'dropped_day') GROUP BY d) ");
}

void day_attempts_put_is_current(struct buf *sql, const struct derived *copy)
{
	buf_printf(sql, "%s > greatest(n_day, n_hour) ", copy->newest);
}

void day_attempts_put_is_copied(struct buf *sql)
{
	const char *before = "";

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		if (!copy->param)
			continue;
		buf_puts(sql, before);
		day_attempts_put_is_current(sql, copy);
		before = "AND ";
	}
}

void day_attempts_put_is_read(struct buf *sql, const struct derived *copy)
{
	if (!copy->param) {
		day_attempts_put_is_current(sql, copy);
		return;
	}
	buf_putc(sql, '(');
	day_attempts_put_is_current(sql, copy);
	if (copy->based)
		buf_printf(sql, "OR (n_dropped > 0 AND %s > 0)) ", copy->based);
	else
		buf_puts(sql, "OR n_dropped > 0) ");
}

void day_attempts_put_can_copy(struct buf *sql, const struct derived *copy)
{
	if (copy->based)
		buf_printf(sql, "(n_dropped = 0 OR %s > 0)", copy->based);
	else
		buf_puts(sql, "true");
}
