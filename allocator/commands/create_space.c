/*
 * `allocator create-space --space NAME [--first-block N] [--no-archive]`
 *
 * A Redis that has lost a space looks like one that never had it.  So before a
 * space is created, the archive of links (ClickHouse, table `links`) and the
 * high-water file of this host are checked for codes of the space.  The archive
 * knows every link, except those that had not been sent to it yet.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "allocator/commands.h"
#include "allocator/commands/space_option.h"
#include "allocator/space_worth.h"
#include "codespace/link_id.h"
#include "common/clickhouse/rows.h"
#include "linkstore/space/high_water_file.h"
#include "linkstore/space/space_record.h"

/* --- archive -------------------------------------------------------------- */

/* Codes from ClickHouse's ErrorCodes.cpp. */
#define UNKNOWN_TABLE	 60
#define UNKNOWN_DATABASE 81

/* Finds links of the space's length in other spaces.  Codes with - or _ are
 * aliases, whatever their length. */
static const char others_of_length[] =
	"SELECT space, any(code) FROM links "
	"WHERE length(code) = {length:UInt32} AND space != {name:String} "
	"AND position(code, '-') = 0 AND position(code, '_') = 0 "
	"GROUP BY space ORDER BY space LIMIT 1 FORMAT TabSeparated";

/* Finds the spaces that have link ids of this space's number, other spaces
 * first, and the highest of these ids. */
static const char owners_of_number[] =
	"SELECT space, max(bitAnd(link_id, {mask:UInt64})), "
	"argMax(code, bitAnd(link_id, {mask:UInt64})) FROM links "
	"WHERE link_id BETWEEN {low:UInt64} AND {high:UInt64} "
	"GROUP BY space ORDER BY space = {name:String}, space "
	"LIMIT 1 FORMAT TabSeparated";

static const char own_links[] = "SELECT space, code FROM links "
				"WHERE space = {name:String} "
				"LIMIT 1 FORMAT TabSeparated";

#define NUMBER_TEXT 24

struct archive {
	struct clickhouse *ch;
	const struct link_space *space;
	char length[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT],
		mask[NUMBER_TEXT];
	uint64_t first_block;
};

/* Runs a query; `judge` is called with the archive and the row, if there is
 * one. */
static int query_archive(struct archive *a, const char *query,
			 const char *columns, clickhouse_row_fn *judge,
			 struct error *err)
{
	/* A space's name has letters and digits only. */
	const struct clickhouse_param params[] = {
		{"param_name", a->space->name}, {"param_length", a->length},
		{"param_low", a->low},		{"param_high", a->high},
		{"param_mask", a->mask},	{0},
	};

	return clickhouse_rows(a->ch, query, params, columns, judge, a, err);
}

static int refuse_length(void *arg, char **fields, struct error *err)
{
	const struct archive *a = arg;

	return error_set(err, ERROR_UNSAFE,
			 "space %s: the archive knows codes of %u characters "
			 "that are another space's, such as %.20s of %.20s: a "
			 "length belongs to one space",
			 a->space->name, a->space->length, fields[1],
			 fields[0]);
}

static int check_length(struct archive *a, struct error *err)
{
	if (a->space->length == 0)
		return 0;
	return query_archive(a, others_of_length, "ss", refuse_length, err);
}

/* Even with other keys, a code could be issued again whose link is in the
 * archive but lost in Redis. */
static int check_keys(const struct archive *a, const char *code, uint64_t id,
		      struct error *err)
{
	uint64_t decoded;

	if (codespace_decode(a->space->codes, code, strlen(code), &decoded,
			     NULL) &&
	    decoded == id)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "space %s: the archive knows its code %.20s, which "
			 "was not made with the keys and the length that are "
			 "configured",
			 a->space->name, code);
}

static int check_first(const struct archive *a, uint64_t top, struct error *err)
{
	const struct link_space *space = a->space;
	uint64_t last = top / space->block_size;
	uint64_t least = last + 1 + space->safety_gap;

	if (a->first_block >= least)
		return 0;
	if (least >= space->blocks)
		return error_set(err, ERROR_UNSAFE,
				 "space %s: the archive knows links of its "
				 "last blocks: make a space of another length",
				 space->name);
	return error_set(err, ERROR_UNSAFE,
			 "space %s: the archive knows links of it up to block "
			 "%" PRIu64 ", which this Redis does not: restore it, "
			 "or give these blocks up with --first-block %" PRIu64
			 " or more (links.safety_gap above: the last ones may "
			 "not be archived)",
			 space->name, last, least);
}

static int check_owner(void *arg, char **fields, struct error *err)
{
	const struct archive *a = arg;
	uint64_t top = tsv_u64(fields[1]);

	if (strcmp(fields[0], a->space->name) != 0)
		return error_set(
			err, ERROR_UNSAFE,
			"space %s: the archive knows links of number "
			"%u that were made in space %.20s: a number is "
			"never used for another space",
			a->space->name, a->space->number, fields[0]);
	if (check_keys(a, fields[2], top, err) < 0)
		return -1;
	return check_first(a, top, err);
}

static int refuse_links(void *arg, char **fields, struct error *err)
{
	const struct archive *a = arg;

	return error_set(err, ERROR_UNSAFE,
			 "space %s: the archive knows links of it, such as "
			 "%.64s, which this Redis does not: restore it, or "
			 "accept with --no-archive that their codes are given "
			 "out again",
			 a->space->name, fields[1]);
}

static int check_plain(struct archive *a, struct error *err)
{
	/* Later snowflakes are different codes. */
	if (a->space->strategy == LINK_SNOWFLAKE)
		return 0;
	return query_archive(a, own_links, "ss", refuse_links, err);
}

static int check_conflicting_links(struct archive *a, struct error *err)
{
	if (check_length(a, err) < 0)
		return -1;
	return link_space_has_blocks(a->space)
		       ? query_archive(a, owners_of_number, "sns", check_owner,
				       err)
		       : check_plain(a, err);
}

/* Adds to the error what the operator can do. */
static void explain_archive_error(const struct archive *a, struct error *err)
{
	int code = a->ch ? clickhouse_last_code(a->ch) : 0;

	if (err->code == ERROR_UNSAFE || err->code == ERROR_NOMEM)
		return;
	if (code == UNKNOWN_TABLE || code == UNKNOWN_DATABASE)
		error_set(
			err, ERROR_REMOTE,
			"there is no archive that shows whether codes of space "
			"%s were ever issued: run `aggregator migrate` first "
			"(section clickhouse), or, if none ever were, give "
			"--no-archive",
			a->space->name);
	else
		error_wrap(
			err,
			"the archive does not show whether codes of space %s "
			"were ever issued (section clickhouse; if none ever "
			"were, give --no-archive)",
			a->space->name);
}

/*
 * Checks whether the space may be created with its cursor at `first_block`.
 * Returns ERROR_UNSAFE if it could issue a code or a link id that the archive
 * has: of the space itself, of another space with its number, or of its length.
 * The text says what to do.  Returns ERROR_REMOTE if the archive cannot be
 * queried.
 */
static int check_archive(const struct clickhouse_config *config,
			 const struct link_space *space, uint64_t first_block,
			 struct error *err)
{
	uint64_t low = (uint64_t)space->number << 57;
	struct archive a = {.space = space, .first_block = first_block};
	int status = -1;

	snprintf(a.length, sizeof(a.length), "%u", space->length);
	snprintf(a.low, sizeof(a.low), "%" PRIu64, low);
	snprintf(a.high, sizeof(a.high), "%" PRIu64,
		 low + ((UINT64_C(1) << 57) - 1));
	snprintf(a.mask, sizeof(a.mask), "%" PRIu64, LINK_ID_MAX);
	a.ch = clickhouse_new(config, err);
	if (a.ch)
		status = check_conflicting_links(&a, err);
	if (status < 0)
		explain_archive_error(&a, err);
	clickhouse_free(a.ch);
	return status;
}

/* --- codes issued before -------------------------------------------------- */

/* Checks the high-water file, which may have more than the archive, since this
 * host's allocators write it.  This command must not create the file: only
 * allocators do. */
static int ask_high_water_file(const struct allocator_config *config,
			       const struct linkstore *store,
			       const struct link_space *space,
			       uint64_t first_block, struct error *err)
{
	const char *path = config->allocator.high_water_file;
	struct high_water_file *file;
	uint64_t cursor;

	if (!path || !link_space_has_blocks(space) ||
	    (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	file = high_water_file_open(path, store, err);
	if (!file)
		return -1;
	cursor = high_water_file_get(file, space).cursor;
	high_water_file_free(file);
	if (first_block >= cursor)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "space %s: allocators of this host have seen blocks "
			 "up to %" PRIu64 ": begin above with --first-block "
			 "%" PRIu64 " or more, or move %.200s away if nothing "
			 "of it is known to anybody",
			 space->name, cursor - 1, cursor, path);
}

/* Fails if codes of the space may have been issued before.  A space that exists
 * is only compared, by space_create. */
static int ask_the_past(const struct allocator_config *config,
			const struct app *app, const struct space_option *o,
			const struct link_space *space, uint64_t first_block,
			struct error *err)
{
	bool exists;

	if (space_exists(o->redis, space, &exists, err) < 0)
		return -1;
	if (exists)
		return 0;
	if (ask_high_water_file(config, o->store, space, first_block, err) < 0)
		return -1;
	if (app_option_value(app, "no-archive"))
		return 0;
	return check_archive(&config->clickhouse, space, first_block, err);
}

/* --- command -------------------------------------------------------------- */

static void say_created(const struct link_space *space,
			enum space_created created)
{
	static const char *const verbs[] = {
		[SPACE_CREATED] = "created",
		[SPACE_EXTENDED] = "added new key versions to",
		[SPACE_UNCHANGED] = "nothing to do for",
	};

	printf("%s space %s: ", verbs[created], space->name);
	if (link_space_has_blocks(space))
		printf("codes of %u characters, blocks of %" PRIu32 "\n",
		       space->length, space->block_size);
	else if (space->length)
		printf("codes of %u characters\n", space->length);
	else
		printf("aliases\n");
}

/* Prints a warning; the operator can still choose another space. */
static void say_worth(const struct link_space *space)
{
	char text[SPACE_WORTH_MAX];

	if (space_worth_warn(space, text))
		printf("warning: %s\n", text);
}

int command_create_space(struct app *app, const void *config, struct error *err)
{
	struct space_option o = {0};
	const struct link_space *space;
	enum space_created created;
	uint64_t first_block;
	int status = -1;

	if (space_option_number(app, "first-block", &first_block, err) < 0)
		return -1;
	space = space_option_open(&o, config, app, err);
	if (!space ||
	    ask_the_past(config, app, &o, space, first_block, err) < 0 ||
	    space_create(o.redis, space, first_block, &created, err) < 0)
		goto out;
	say_created(space, created);
	say_worth(space);
	status = 0;
out:
	space_option_close(&o);
	return status;
}
