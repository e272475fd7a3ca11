#include "aggregator/settle/day_attempts.h"

#include "common/clickhouse/statement.h"

/* Writes the columns of the newest attempts of copies, and of those in bases.
 */
static void put_columns(struct buf *newest, struct buf *based)
{
	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		buf_printf(newest, "maxIf(attempt, kind = '%s') AS %s, ",
			   copy->kind, copy->newest);
		if (copy->based)
			buf_printf(based, "maxIf(attempt, kind = '%s') AS %s, ",
				   copy->base, copy->based);
	}
}

static void put_kinds(struct buf *kinds)
{
	for (size_t i = 0; i < COPIED_KINDS; i++)
		buf_printf(kinds, "'%s', ", derived_copy((enum copied)i)->kind);
	for (size_t i = 0; i < COPIED_KINDS; i++)
		if (derived_copy((enum copied)i)->based)
			buf_printf(kinds, "'%s', ",
				   derived_copy((enum copied)i)->base);
}

void day_attempts_put(struct buf *sql)
{
	static const char text[] =
#include "aggregator/sql/day_attempts.sql.inc"
		;
	struct buf newest = {0}, based = {0}, kinds = {0};

	put_columns(&newest, &based);
	put_kinds(&kinds);
	const struct statement_blank blanks[] = {
		{"newest", statement_piece(sql, &newest)},
		{"based", statement_piece(sql, &based)},
		{"kinds", statement_piece(sql, &kinds)},
		{NULL, NULL}};

	buf_putc(sql, '(');
	statement_put(sql, text, blanks);
	buf_puts(sql, ") ");
	buf_free(&newest);
	buf_free(&based);
	buf_free(&kinds);
}

void day_attempts_put_is_current(struct buf *sql, const struct derived *copy)
{
	buf_printf(sql, "%s > greatest(n_day, n_hour) ", copy->newest);
}

void day_attempts_put_is_copied(struct buf *sql, bool but_old)
{
	const char *before = "";

	for (size_t i = 0; i < COPIED_KINDS; i++) {
		const struct derived *copy = derived_copy((enum copied)i);

		if (!copy->param || (but_old && copy->when_old))
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
