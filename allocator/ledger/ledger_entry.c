#include "allocator/ledger/ledger_entry.h"

#include <math.h>

#include "common/clock.h"

int ledger_entry_read(struct redis *redis, struct ledger_entry *entry,
		      struct error *err)
{
	struct space_ledger ledger;
	struct error why = {0};

	if (space_read_ledger(redis, entry->space, &ledger, &why) == 0) {
		entry->ledger = ledger;
		entry->state = LEDGER_READ;
		outlook_compute(&ledger, &entry->outlook);
		return 0;
	}
	if (why.code == ERROR_NOTFOUND) {
		entry->state = LEDGER_MISSING;
		return 0;
	}
	*err = why;
	return -1;
}

/* --- JSON ----------------------------------------------------------------- */

static void set_count(json_t *object, const char *key, uint64_t number)
{
	json_object_set_new(object, key, json_integer((json_int_t)number));
}

static void set_time(json_t *object, const char *key, int64_t ms)
{
	char text[RFC3339_TEXT_MAX];

	json_object_set_new(object, key,
			    ms ? json_string(rfc3339_format(ms, text))
			       : json_null());
}

/* Sets a number with two digits after the point, null if it is not finite. */
static void set_rate(json_t *object, const char *key, double number)
{
	json_object_set_new(object, key,
			    isfinite(number)
				    ? json_real(round(number * 100) / 100)
				    : json_null());
}

static json_t *blocks_json(const struct ledger_entry *entry)
{
	const struct space_ledger *l = &entry->ledger;
	json_t *object = json_object();

	set_count(object, "size", entry->space->block_size);
	set_count(object, "capacity", l->capacity);
	set_count(object, "cursor", l->cursor);
	set_count(object, "free", entry->outlook.free);
	set_count(object, "issued", l->issued);
	set_count(object, "live", l->live);
	set_count(object, "gap", l->gap);
	set_count(object, "due", l->due);
	set_count(object, "lost", l->lost);
	set_count(object, "pooled", l->pooled);
	set_count(object, "quarantined", l->quarantined);
	set_count(object, "out", l->out);
	set_count(object, "retired", l->retired);
	set_count(object, "skipped", l->skipped);
	return object;
}

static json_t *generations_json(const struct space_ledger *l)
{
	if (!l->highest_generation)
		return json_null();
	return json_pack("{s:I, s:I}", "lowest",
			 (json_int_t)l->lowest_generation, "highest",
			 (json_int_t)l->highest_generation);
}

static json_t *rates_json(const struct ledger_entry *entry)
{
	const struct outlook *o = &entry->outlook;
	json_t *object = json_object();

	set_rate(object, "days", o->days);
	if (link_space_has_blocks(entry->space)) {
		set_rate(object, "blocks_issued", o->issued_per_day);
		set_rate(object, "blocks_reclaimed", o->reclaimed_per_day);
	}
	set_rate(object, "links_created", o->created_per_day);
	json_object_set_new(object, "extrapolated",
			    json_boolean(outlook_is_extrapolated(o)));
	return object;
}

static json_t *day_json(const struct ledger_entry *entry, size_t days_ago)
{
	const struct space_day *day = &entry->ledger.days[days_ago];
	json_t *object = json_object();

	if (link_space_has_blocks(entry->space)) {
		set_count(object, "blocks_issued", day->granted);
		set_count(object, "blocks_handed_back", day->handed_back);
		set_count(object, "blocks_reclaimed", day->reclaimed);
		set_count(object, "blocks_pooled", day->pooled);
	}
	set_count(object, "links_created", day->links_created);
	return object;
}

static void set_blocks(json_t *object, const struct ledger_entry *entry)
{
	const struct space_ledger *l = &entry->ledger;

	json_object_set_new(object, "blocks", blocks_json(entry));
	json_object_set_new(object, "generations", generations_json(l));
	set_time(object, "next_due", l->next_due);
	set_rate(object, "days_to_exhaustion", entry->outlook.days_left);
	set_rate(object, "days_to_exhaustion_with_reclaim",
		 entry->outlook.days_left_reclaim);
}

json_t *ledger_entry_json(const struct ledger_entry *entry)
{
	static const char *const states[] = {
		[LEDGER_UNREAD] = "unread",
		[LEDGER_READ] = "ready",
		[LEDGER_MISSING] = "missing",
	};
	const struct link_space *space = entry->space;
	json_t *object =
		json_pack("{s:s, s:I, s:s, s:s}", "space", space->name,
			  "number", (json_int_t)space->number, "strategy",
			  link_strategy_names[space->strategy], "state",
			  states[entry->state]);

	json_object_set_new(object, "length",
			    space->length
				    ? json_integer((json_int_t)space->length)
				    : json_null());
	if (entry->state != LEDGER_READ)
		return object;
	set_time(object, "as_of", entry->ledger.now);
	set_time(object, "created_at", entry->ledger.created);
	set_count(object, "redis_forgot", entry->ledger.forgot);
	if (link_space_has_blocks(space))
		set_blocks(object, entry);
	json_object_set_new(object, "per_day", rates_json(entry));
	json_object_set_new(object, "today", day_json(entry, 0));
	json_object_set_new(object, "yesterday", day_json(entry, 1));
	return object;
}

json_t *ledger_json(const struct ledger_entry *entries, size_t count)
{
	json_t *spaces = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(spaces, ledger_entry_json(&entries[i]));
	return json_pack("{s:o}", "spaces", spaces);
}
