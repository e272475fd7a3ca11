#include "aggregator/settle/derived_tables.h"

#include <string.h>

/* --- dimensions -------------------------------------------------------------
 *
 * An event may have no value, or several, of a DIMENSION_MANY.
 */

static bool is_of_owners(const struct dimension *d)
{
	return (d != dimensions && dimension_is_of_hours(d)) ||
	       d->kind == DIMENSION_OF_ACCOUNT;
}

static bool is_of_links(const struct dimension *d)
{
	return d != dimensions && d->kind != DIMENSION_MANY;
}

static bool is_of_days(const struct dimension *d)
{
	return d->kind == DIMENSION_DAILY;
}

/* --- the rows ---------------------------------------------------------------
 */

static const char hours_in_range[] =
#include "aggregator/sql/parts/hours_in_range.sql.inc"
	;
static const char slots_in_range[] =
#include "aggregator/sql/parts/slots_in_range.sql.inc"
	;
static const char is_of_day[] = "day = "
#include "aggregator/sql/parts/day_at_start.sql.inc"
	;
static const char day_start[] = "toDateTime(day, 'UTC')";

const struct derived derived_tables[DERIVED_ROWS] = {
	[DERIVED_HOURS] = {.kind = "hour",
			   .unit = "hour",
			   .tables = {{.name = "stats_hourly",
				       .by = DERIVED_BY_DAY,
				       .visitors = VISITORS_IN_HOURS,
				       .at = "hour",
				       .events = "events",
				       .in_day = hours_in_range,
				       .has = dimension_is_of_hours,
				       .has_many = true,
				       .compared = "hours' values",
				       .counted = "events by each dimension",
				       .is_large = true}}},
	[DERIVED_DAYS] =
		{.kind = "link_day",
		 .unit = "toStartOfDay(slot)",
		 .tables = {{.name = "link_slots",
			     .by = DERIVED_BY_DAY,
			     .of_links = true,
			     .at = "slot",
			     .events = "effective + ineffective",
			     .in_day = slots_in_range,
			     .compared = "links' slots",
			     .counted = "visits in slots",
			     .is_large = true},
			    {.name = "link_days",
			     .by = DERIVED_BY_DAY,
			     .of_links = true,
			     .at = day_start,
			     .events = "if(part IN ('sole', 'whole'), pv, 0)",
			     .in_day = is_of_day}}},
	[DERIVED_COPIES + COPIED_LINKS] =
		{.kind = "sealed_day",
		 .tables = {{.name = "sealed_slots",
			     .by = DERIVED_BY_MONTH,
			     .visitors = VISITORS_IN_LINK_SETS,
			     .of_links = true,
			     .at = "slot",
			     .events = "events",
			     .in_day = slots_in_range,
			     .compared = "sealed days",
			     .counted = "events sealed"}},
		 .marker = "sealing",
		 .marker_number = 7,
		 .base = "base_sealed",
		 .newest = "n_sealed",
		 .param = "param_sealed",
		 .bound = "{sealed:UInt64}",
		 .when_late = true,
		 .of_rows = true,
		 .statements = &seal_statements,
		 .verb = "seal",
		 .line = "sealing",
		 .done = "sealed",
		 .logged = "sealed",
		 .metric = "shortloop_aggregator_sealed_days_total",
		 .help = "Days sealed, repetitions included."},
	[DERIVED_COPIES + COPIED_OWNERS] =
		{.kind = "owner_day",
		 .tables = {{.name = "owner_slots",
			     .by = DERIVED_BY_MONTH,
			     .visitors = VISITORS_IN_OWNER_SETS,
			     .of_links = true,
			     .at = "slot",
			     .events = "events",
			     .in_day = slots_in_range,
			     .compared = "owners' rows",
			     .counted = "events of owners"},
			    {.name = "owner_values",
			     .by = DERIVED_BY_MONTH,
			     .of_links = true,
			     .at = day_start,
			     .events = "events",
			     .in_day = is_of_day,
			     .has =
				     is_of_owners,
			     .has_many = true,
			     .compared = "owners' values",
			     .counted = "events of owners by each dimension",
			     .is_large = true}},
		 .marker = "copying",
		 .marker_number = 14,
		 .base = "base_owner",
		 .newest = "n_owner",
		 .based = "n_based",
		 .param = "param_owner",
		 .bound = "{owner:UInt64}",
		 .of_rows = true,
		 .statements = &owner_statements,
		 .verb = "settle owners of",
		 .line = "owners' days",
		 .done = "copied",
		 .logged = "owner_days",
		 .metric = "shortloop_aggregator_owner_days_total",
		 .help = "Days copied for owners, repetitions included."},
	[DERIVED_COPIES + COPIED_VALUES] =
		{.kind = "value_day",
		 .tables = {{.name = "owner_values",
			     .by = DERIVED_BY_MONTH,
			     .of_links = true,
			     .at = day_start,
			     .events = "events",
			     .in_day = is_of_day,
			     .has =
				     is_of_days,
			     .compared = "owners' daily",
			     .counted = "events of owners by those of days",
			     .is_large = true},
			    {.name = "day_values",
			     .by = DERIVED_BY_MONTH,
			     .at = day_start,
			     .events = "events",
			     .in_day = is_of_day,
			     .has =
				     is_of_days,
			     .compared = "values' rows",
			     .counted = "events of values"}},
		 .marker = "valuing",
		 .marker_number = 16,
		 .base = "base_value",
		 .newest = "n_value",
		 .based = "n_based_value",
		 .param = "param_value",
		 .bound = "{value:UInt64}",
		 .of_rows = true,
		 .statements = &value_statements,
		 .verb = "settle values of",
		 .line = "days' values",
		 .done = "copied",
		 .logged = "value_days",
		 .metric = "shortloop_aggregator_value_days_total",
		 .help = "Days of which the values of dimensions that hours do "
			 "not have were settled, repetitions included."},
	[DERIVED_COPIES + COPIED_SAMPLE] =
		{.kind = "sampled_day",
		 .tables = {{.name = "sampled_clicks",
			     .by = DERIVED_BY_MONTH,
			     .visitors = VISITORS_IN_SAMPLE,
			     .of_links = true,
			     .at = "slot",
			     .events = "events",
			     .in_day = slots_in_range,
			     .compared = "sampled days",
			     .counted = "events sampled"}},
		 .marker = "sampling",
		 .marker_number = 21,
		 .base = "base_sample",
		 .newest = "n_sampled",
		 .based = "n_based_sample",
		 .param = "param_sample",
		 .bound = "{sample:UInt64}",
		 .of_rows = true,
		 .statements = &sample_statements,
		 .verb = "sample",
		 .line = "samples",
		 .done = "sampled",
		 .logged = "sampled_days",
		 .metric = "shortloop_aggregator_sampled_days_total",
		 .help = "Days of which the clicks of some visitors were "
			 "copied, repetitions included."},
	[DERIVED_COPIES + COPIED_LINK_VALUES] =
		{.kind = "link_value_day",
		 .tables = {{.name = "link_values",
			     .by = DERIVED_BY_MONTH,
			     .visitors = VALUES_OF_LINKS,
			     .of_links = true,
			     .at = day_start,
			     .events = "events",
			     .in_day = is_of_day,
			     .has =
				     is_of_links,
			     .has_many = true,
			     .compared = "links' values",
			     .counted = "events of links by each dimension",
			     .is_large = true}},
		 .marker = "link_valuing",
		 .marker_number = 24,
		 .base = "base_link_value",
		 .newest = "n_link_value",
		 .based = "n_based_link_value",
		 .param = "param_link_value",
		 .bound = "{link_value:UInt64}",
		 .when_old = true,
		 .of_rows = true,
		 .statements = &link_value_statements,
		 .verb = "settle values of links of",
		 .line = "links' days",
		 .done = "copied for links",
		 .logged = "link_value_days",
		 .metric = "shortloop_aggregator_link_value_days_total",
		 .help = "Days of which the values of each link were copied, "
			 "repetitions included."},
	/* Slots of a dropped day stay, so it can be rolled up again from
	 * them. */
	[DERIVED_COPIES + COPIED_TOTALS] =
		{
			.kind = "spanned_day",
			.tables = {{.name = "stats_spans",
				    .by = DERIVED_BY_MONTH,
				    .visitors = VISITORS_IN_SPANS,
				    .at = "span_start",
				    .events = "events",
				    .has = dimension_is_of_hours,
				    .dimension = "if(span = 3600, 'hours', "
						 "toString(dimension))",
				    .also = ", 'hours'",
				    .compared = "rolled up",
				    .counted = "events rolled up"}},
			.marker = "spanning",
			.marker_number = 19,
			.base = "spanned_day",
			.newest = "n_rolled",
			.statements = &rollup_statements,
			.verb = "roll up",
			.line = "rollups",
			.done = "rolled up",
			.logged = "rolled_up",
			.metric = "shortloop_aggregator_rolled_up_days_total",
			.help = "Days rolled up over all links, repetitions "
				"included."},
};

/* --- walking ----------------------------------------------------------------
 */

bool derived_has_table(const struct derived *row, const char *name)
{
	for (size_t i = 0; i < DERIVED_TABLES_MAX; i++)
		if (row->tables[i].name && !strcmp(row->tables[i].name, name))
			return true;
	return false;
}

static bool was_before(size_t row, const char *name)
{
	for (size_t i = 0; i < row; i++)
		if (derived_has_table(&derived_tables[i], name))
			return true;
	return false;
}

const struct derived_table *derived_walk_next(struct derived_walk *walk)
{
	for (; walk->row < DERIVED_ROWS; walk->row++, walk->table = 0)
		while (walk->table < DERIVED_TABLES_MAX) {
			const struct derived_table *t =
				&derived_tables[walk->row]
					 .tables[walk->table++];

			if (t->name && !was_before(walk->row, t->name))
				return t;
		}
	return NULL;
}

void derived_put_markers(struct buf *sql)
{
	for (size_t i = 0; i < COPIED_KINDS; i++)
		buf_printf(sql, "%s'%s'", i ? ", " : "",
			   derived_copy((enum copied)i)->marker);
}
