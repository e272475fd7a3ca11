/* guarantee_command.c - `collector guarantee`: measures what the present
 * ClickHouse guarantees. */
#include <stdio.h>

#include "collector/collector_config.h"
#include "collector/commands.h"
#include "collector/exactly_once/guarantee.h"

int collector_guarantee(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct sink *sink = sink_new(&config->clickhouse, err);
	struct measured measured;
	struct guarantee g;
	int status = -1;

	(void)app;
	if (!sink)
		return -1;
	if (sink_probe(sink, err) == 0 &&
	    measure_tokens(sink, &measured, err) == 0 &&
	    guarantee_probe(sink, &measured, &g, err) == 0) {
		puts(g.text);
		status = g.exactly_once ? 0 : 1;
	}
	sink_free(sink);
	return status;
}
