/* What is done to spaces by hand: making them, and taking keys out of use. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/archive.h"
#include "allocator/commands.h"
#include "allocator/space_worth.h"
#include "linkstore/space/record.h"
#include "linkstore/space/retire.h"
#include "linkstore/space/seen_file.h"

/* Where the space is. */
struct place {
	struct linkstore *store;
	struct redis *redis;
};

/* Returns the space that --space names, or NULL. */
static const struct link_space *
place_open(struct place *ret, const struct allocator_config *config,
	   const struct app *app, struct error *err)
{
	const char *name = app_option_value(app, "space");
	const struct link_space *space;

	ret->store = linkstore_new(&config->links, err);
	if (!ret->store)
		return NULL;
	space = name ? linkstore_space_named(ret->store, name) : NULL;
	if (!space) {
		command_refuse_space(ret->store, name, err);
		return NULL;
	}
	ret->redis = redis_new(&config->redis, err);
	return ret->redis ? space : NULL;
}

static void place_close(struct place *p)
{
	redis_free(p->redis);
	linkstore_free(p->store);
}

static int parse_number(const struct app *app, const char *option,
			uint64_t *ret, struct error *err)
{
	const char *text = app_option_value(app, option);
	char *end;

	*ret = 0;
	if (!text)
		return 0;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (errno || end == text || *end || strchr(text, '-'))
		return error_set(err, ERROR_USAGE,
				 "--%s '%s': expected a number", option, text);
	return 0;
}

/* --- making one ----------------------------------------------------------- */

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

/* On the terminal, where somebody can still choose otherwise. */
static void say_worth(const struct link_space *space)
{
	char text[SPACE_WORTH_MAX];

	if (space_worth_warn(space, text))
		printf("warning: %s\n", text);
}

/* The allocators of this host may remember more than the archive.  The file is
 * theirs to make. */
static int ask_seen_file(const struct allocator_config *config,
			 const struct linkstore *store,
			 const struct link_space *space, uint64_t first_block,
			 struct error *err)
{
	const char *path = config->allocator.seen_file;
	struct seen_file *file;
	uint64_t seen;

	if (!path || !link_space_has_blocks(space) ||
	    (access(path, F_OK) < 0 && errno == ENOENT))
		return 0;
	file = seen_file_open(path, store, err);
	if (!file)
		return -1;
	seen = seen_file_get(file, space).cursor;
	seen_file_free(file);
	if (first_block >= seen)
		return 0;
	return error_set(err, ERROR_UNSAFE,
			 "space %s: allocators of this host have seen blocks "
			 "up to %" PRIu64 ": begin above with --first-block "
			 "%" PRIu64 " or more, or move %.200s away if nothing "
			 "of it is known to anybody",
			 space->name, seen - 1, seen, path);
}

/* What was issued before?  A space that is there already is only compared. */
static int ask_the_past(const struct allocator_config *config,
			const struct app *app, const struct place *place,
			const struct link_space *space, uint64_t first_block,
			struct error *err)
{
	bool exists;

	if (space_exists(place->redis, space, &exists, err) < 0)
		return -1;
	if (exists)
		return 0;
	if (ask_seen_file(config, place->store, space, first_block, err) < 0)
		return -1;
	if (app_option_value(app, "no-archive"))
		return 0;
	return archive_check(&config->clickhouse, space, first_block, err);
}

int command_create_space(const struct allocator_config *config,
			 const struct app *app, struct error *err)
{
	struct place place = {0};
	const struct link_space *space;
	enum space_created created;
	uint64_t first_block;
	int status = -1;

	if (parse_number(app, "first-block", &first_block, err) < 0)
		return -1;
	space = place_open(&place, config, app, err);
	if (!space ||
	    ask_the_past(config, app, &place, space, first_block, err) < 0 ||
	    space_create(place.redis, space, first_block, &created, err) < 0)
		goto out;
	say_created(space, created);
	say_worth(space);
	status = 0;
out:
	place_close(&place);
	return status;
}

/* --- keys ----------------------------------------------------------------- */

int command_retire_key(const struct allocator_config *config,
		       const struct app *app, struct error *err)
{
	struct place place = {0};
	const struct link_space *space;
	uint64_t version, blocks;
	int status = -1;

	if (!app_option_value(app, "key-version"))
		return error_set(err, ERROR_USAGE,
				 "which key? --key-version N, one of its "
				 "space's keys");
	if (parse_number(app, "key-version", &version, err) < 0)
		return -1;
	if (version >= CODE_VERSIONS)
		return error_set(err, ERROR_USAGE,
				 "--key-version: versions are 0 to %d",
				 CODE_VERSIONS - 1);
	space = place_open(&place, config, app, err);
	if (!space || space_retire_key(place.redis, space, (unsigned)version,
				       &blocks, err) < 0)
		goto out;
	printf("retired key version %u of space %s: none of %" PRIu64
	       " blocks holds a code of it\n",
	       (unsigned)version, space->name, blocks);
	status = 0;
out:
	place_close(&place);
	return status;
}
