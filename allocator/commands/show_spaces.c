/* `allocator spaces [--space NAME] [--json]`: prints the ledger as tables, or
 * as GET /v1/spaces answers it. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/commands.h"
#include "allocator/commands/space_option.h"
#include "allocator/ledger/ledger_entry.h"
#include "common/clock.h"
#include "common/table.h"

#define DAYS_A_YEAR 365.25

static bool has_blocks(const struct ledger_entry *e)
{
	return link_space_has_blocks(e->space);
}

/* --- cells ---------------------------------------------------------------- */

static void put_count(struct table *t, double number)
{
	table_number(t, (uint64_t)llround(number));
}

/* Writes a rate a day: "about 2,401,800" if it is extrapolated. */
static void put_rate(struct table *t, const struct outlook *o, double number)
{
	char text[48];

	if (!outlook_is_extrapolated(o)) {
		put_count(t, number);
		return;
	}
	snprintf(text, sizeof(text), "about %lld", llround(number));
	table_text(t, text);
}

/* Writes "12 days", "3.4 days", "never". */
static void put_left(struct table *t, double days)
{
	char text[32];

	if (!isfinite(days))
		snprintf(text, sizeof(text), "never");
	else if (days < 10)
		snprintf(text, sizeof(text), "%.1f days", days);
	else if (days < 2 * DAYS_A_YEAR)
		snprintf(text, sizeof(text), "%.0f days", days);
	else if (days < 1000 * DAYS_A_YEAR)
		snprintf(text, sizeof(text), "%.0f years", days / DAYS_A_YEAR);
	else
		snprintf(text, sizeof(text), "> 1000 years");
	table_text(t, text);
}

static void put_used(struct table *t, const struct ledger_entry *e)
{
	double used = 1 - (double)e->outlook.free / (double)e->ledger.capacity;
	char text[16];

	snprintf(text, sizeof(text), "%.1f %%", 100 * used);
	table_text(t, text);
}

static void put_generations(struct table *t, const struct space_ledger *l)
{
	char text[32] = "-";

	if (l->highest_generation > l->lowest_generation)
		snprintf(text, sizeof(text), "%" PRIu32 " to %" PRIu32,
			 l->lowest_generation, l->highest_generation);
	else if (l->highest_generation)
		snprintf(text, sizeof(text), "%" PRIu32, l->highest_generation);
	table_text(t, text);
}

/* --- rows ----------------------------------------------------------------- */

static void add_blocks(struct table *t, const struct ledger_entry *e)
{
	const struct space_ledger *l = &e->ledger;

	table_text(t, e->space->name);
	table_number(t, e->space->block_size);
	table_number(t, l->capacity);
	table_number(t, l->cursor);
	put_used(t, e);
	table_number(t, l->live);
	table_number(t, l->gap);
	table_number(t, l->due);
	table_number(t, l->lost);
	table_number(t, l->pooled);
	table_number(t, l->quarantined);
	table_number(t, l->out);
	table_number(t, l->retired);
	put_generations(t, l);
}

static void add_rates(struct table *t, const struct ledger_entry *e)
{
	const struct outlook *o = &e->outlook;

	table_text(t, e->space->name);
	table_text(t, link_strategy_names[e->space->strategy]);
	if (e->space->length)
		table_number(t, e->space->length);
	else
		table_text(t, "-");
	put_rate(t, o, o->created_per_day);
	if (has_blocks(e)) {
		put_rate(t, o, o->issued_per_day);
		put_rate(t, o, o->reclaimed_per_day);
		put_left(t, o->days_left);
		put_left(t, o->days_left_reclaim);
	} else {
		for (int i = 0; i < 4; i++)
			table_text(t, "-");
	}
}

static void add_created(struct table *t, const struct ledger_entry *e)
{
	table_text(t, e->space->name);
	table_number(t, e->ledger.days[0].links_created);
	table_number(t, e->ledger.days[1].links_created);
}

/* A blank line separates the first note from the tables. */
static void start_note(bool *first)
{
	if (*first)
		putchar('\n');
	*first = false;
}

static void say_notes(const struct ledger_entry *e, bool *first)
{
	const char *name = e->space->name;

	if (e->state == LEDGER_MISSING) {
		start_note(first);
		printf("%s does not exist: create it with `allocator "
		       "create-space --space %s`.\n",
		       name, name);
	}
	if (e->state != LEDGER_READ)
		return;
	if (outlook_is_extrapolated(&e->outlook)) {
		start_note(first);
		printf("%s: its rates a day are extrapolated from %.1f "
		       "hours.\n",
		       name, 24 * e->outlook.days);
	}
	if (e->ledger.lost) {
		start_note(first);
		printf("%s: %" PRIu64 " blocks are lost: their holders died "
		       "before opening them, or Redis lost data.\n",
		       name, e->ledger.lost);
	}
	if (e->ledger.forgot) {
		start_note(first);
		printf("%s: Redis restarted or failed over %" PRIu64
		       " times; %" PRIu64 " blocks were skipped for safety.\n",
		       name, e->ledger.forgot, e->ledger.skipped);
	}
}

static int print_blocks(const struct ledger_entry *entries, size_t count)
{
	struct table *t =
		table_new("space|>block size|>capacity|>cursor|>used|>live|"
			  ">gap|>due|>lost|>pooled|>quarantined|>out|>retired|"
			  ">generations");
	bool any = false;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].state == LEDGER_READ &&
		    has_blocks(&entries[i])) {
			add_blocks(t, &entries[i]);
			any = true;
		}
	}
	if (any) {
		puts("Blocks:");
		status = table_print(t, stdout);
		putchar('\n');
	}
	table_free(t);
	return status;
}

static int print_created(const struct ledger_entry *entries, size_t count)
{
	struct table *t = table_new("space|>today|>yesterday");
	int status;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].state == LEDGER_READ)
			add_created(t, &entries[i]);
	}
	puts("\nLinks created (UTC days), as allocators counted them:");
	status = table_print(t, stdout);
	table_free(t);
	return status;
}

static int print_rates(const struct ledger_entry *entries, size_t count)
{
	struct table *t = table_new("space|strategy|>length|>links created|"
				    ">blocks issued|>reclaimed|>full in|"
				    ">reclaiming");
	int status;

	for (size_t i = 0; i < count; i++) {
		if (entries[i].state == LEDGER_READ)
			add_rates(t, &entries[i]);
	}
	puts("A day, over the last week:");
	status = table_print(t, stdout);
	table_free(t);
	return status;
}

/* Prints three tables, and notes below them. */
static int print_tables(const struct ledger_entry *entries, size_t count,
			struct error *err)
{
	bool first = true;

	if (print_blocks(entries, count) < 0 ||
	    print_rates(entries, count) < 0 ||
	    print_created(entries, count) < 0)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		say_notes(&entries[i], &first);
	return 0;
}

/* --- command -------------------------------------------------------------- */

static int print_json(const struct ledger_entry *entries, size_t count,
		      struct error *err)
{
	json_t *root = ledger_json(entries, count);
	int status = root ? json_dumpf(root, stdout,
				       JSON_INDENT(1) | JSON_REAL_PRECISION(12))
			  : -1;

	json_decref(root);
	if (status < 0)
		return error_set_nomem(err);
	putchar('\n');
	return 0;
}

/* Reads the space named `only`, or all spaces (NULL), into `entries`. */
static int read_spaces(struct redis *redis, const struct linkstore *store,
		       const char *only, struct ledger_entry *entries,
		       size_t *ret_count, struct error *err)
{
	const struct link_space *space;

	*ret_count = 0;
	for (size_t i = 0; i < linkstore_space_count(store); i++) {
		space = linkstore_space(store, i);
		if (only && strcmp(only, space->name) != 0)
			continue;
		entries[*ret_count].space = space;
		if (ledger_entry_read(redis, &entries[(*ret_count)++], err) < 0)
			return -1;
	}
	if (*ret_count)
		return 0;
	space_option_refuse(store, only, err);
	return -1;
}

int command_show_spaces(struct app *app, const void *config, struct error *err)
{
	const struct allocator_config *c = config;
	struct linkstore *store = linkstore_new(&c->links, err);
	struct redis *redis =
		store ? redis_new(&c->redis, linkstore_scripts(store), err)
		      : NULL;
	struct ledger_entry *entries = NULL;
	size_t count;
	int status = -1;

	if (!redis)
		goto out;
	entries = calloc(linkstore_space_count(store), sizeof(*entries));
	if (!entries) {
		error_set_nomem(err);
		goto out;
	}
	if (read_spaces(redis, store, app_option_value(app, "space"), entries,
			&count, err) == 0)
		status = app_option_value(app, "json")
				 ? print_json(entries, count, err)
				 : print_tables(entries, count, err);
out:
	free(entries);
	redis_free(redis);
	linkstore_free(store);
	return status;
}
