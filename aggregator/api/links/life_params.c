#include "aggregator/api/links/life_params.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Appends one space; those without blocks have links of their own. */
static void put_space(struct life_params *ret,
		      const struct links_space_config *space)
{
	if (strcmp(space->strategy, link_strategy_names[LINK_SEQUENCE]) != 0)
		return;
	buf_printf(&ret->numbers, ",%" PRId64, space->number);
	buf_printf(&ret->sizes, ",%" PRId64, space->block_size);
}

int life_params_fill(struct life_params *ret, const struct links_config *config,
		     int64_t now_ms, struct error *err)
{
	const struct links_space_config *spaces =
		config ? config->spaces.items : NULL;
	size_t count = config ? config->spaces.count : 0;

	*ret = (struct life_params){0};
	/* Number 0 is no space's: the lists are never empty. */
	buf_puts(&ret->numbers, "[0");
	buf_puts(&ret->sizes, "[1");
	for (size_t i = 0; i < count; i++)
		put_space(ret, &spaces[i]);
	buf_puts(&ret->numbers, "]");
	buf_puts(&ret->sizes, "]");
	if (!buf_cstr(&ret->numbers) || !buf_cstr(&ret->sizes))
		return error_set_nomem(err);
	snprintf(ret->now, sizeof(ret->now), "%" PRId64, now_ms);
	ret->items[0] = (struct clickhouse_param){"param_space_numbers",
						  ret->numbers.data};
	ret->items[1] =
		(struct clickhouse_param){"param_block_sizes", ret->sizes.data};
	ret->items[2] = (struct clickhouse_param){"param_now", ret->now};
	return 0;
}

void life_params_release(struct life_params *params)
{
	buf_free(&params->numbers);
	buf_free(&params->sizes);
}
