#include "reclaimer/space/clock_check.h"

#include "common/clickhouse/rows.h"
#include "common/clock.h"

#define ASK_MAX_MS (5 * CLOCK_SECOND)

static int ask_clickhouse(const struct clickhouse_config *config,
			  int64_t *ret_ms, struct error *err)
{
	struct clickhouse_config hasty = *config;
	struct clickhouse *ch;
	int status;

	if (hasty.query_timeout > ASK_MAX_MS)
		hasty.query_timeout = ASK_MAX_MS;
	ch = clickhouse_new(&hasty, err);
	status = ch ? clickhouse_now(ch, ret_ms, err) : -1;
	clickhouse_free(ch);
	return status;
}

/* `apart`: difference between Redis' clock and this host's. */
static int ask_another(const struct clock_check *c, int64_t apart,
		       struct error *err)
{
	char own[CLOCK_APART_TEXT_MAX], other[CLOCK_APART_TEXT_MAX];
	int64_t clickhouse = 0, more;
	struct error why = {0};
	bool known;

	known = c->clickhouse &&
		ask_clickhouse(c->clickhouse, &clickhouse, &why) == 0;
	more = c->beyond + clock_boottime_ms() - clickhouse;
	if (known && clock_is_apart(more) && (more > 0) == (apart > 0))
		return error_set(err, ERROR_UNSAFE,
				 "Redis' clock is %s this host's and %s "
				 "ClickHouse's: by it links end and "
				 "quarantines are over.  Set the clock that is "
				 "wrong",
				 clock_apart_format(apart, own),
				 clock_apart_format(more, other));
	clock_apart_format(apart, own);
	log_warn(c->log,
		 "Redis' clock is not this host's; nothing goes by this host's "
		 "clock",
		 log_str("redis_is", own),
		 log_str("clickhouse", known	       ? "does not say so, too"
				       : c->clickhouse ? why.text
						       : "is not queried"));
	return 0;
}

static int begin_clock_check(struct clock_check *c, int64_t beyond,
			     struct error *err)
{
	int64_t apart = beyond + clock_boottime_ms() - clock_real_ms();

	c->begun = true;
	c->beyond = beyond;
	return clock_is_apart(apart) ? ask_another(c, apart, err) : 0;
}

int clock_check_look(struct clock_check *c, int64_t redis_ms, struct error *err)
{
	int64_t beyond = redis_ms - clock_boottime_ms();
	char text[CLOCK_APART_TEXT_MAX];

	if (!redis_ms)
		return 0;
	if (!c->begun)
		return begin_clock_check(c, beyond, err);
	if (!clock_is_apart(beyond - c->beyond))
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "Redis' clock has jumped: it is %s where it would be "
			 "had it gone on",
			 clock_apart_format(beyond - c->beyond, text));
}
