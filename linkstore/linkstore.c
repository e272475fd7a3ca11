#include "linkstore/linkstore.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "linkstore/store.h"

/* Blocks that all allocators may be granted between two looks at a cursor. */
#define CURSOR_MARGIN 1000

/* --- classes -------------------------------------------------------------- */

static int64_t renew_below(const struct links_config *config, int64_t ttl)
{
	int64_t every = config->renew_every;

	if (ttl == DURATION_NEVER)
		return 0;
	if (every > ttl / 8)
		every = ttl / 8;
	return ttl - every;
}

static int add_classes(struct linkstore *ls, struct error *err)
{
	const struct setting_strings *names = &ls->config->ttl_classes;
	struct link_class *class;

	ls->classes = calloc(names->count, sizeof(*ls->classes));
	if (!ls->classes)
		return error_set_nomem(err);
	for (size_t i = 0; i < names->count; i++) {
		class = &ls->classes[i];
		class->name = names->items[i];
		if (duration_parse(class->name, &class->ttl, err))
			return -1;
		class->renew_below = renew_below(ls->config, class->ttl);
		ls->class_count++;
	}
	return 0;
}

/* --- spaces --------------------------------------------------------------- */

static struct codespace *make_codes(const struct links_space_config *config,
				    struct error *err)
{
	const struct links_key_config *from = config->keys.items;
	struct codespace_key keys[CODE_VERSIONS];
	size_t count = config->keys.count;
	struct codespace_options options = {
		.length = (unsigned)config->length,
		.keys = keys,
	};

	for (size_t i = 0; i < count && i < CODE_VERSIONS; i++)
		keys[i] = (struct codespace_key){
			.version = (unsigned)from[i].version,
			.secret = from[i].key,
			.secret_len = strlen(from[i].key),
		};
	if (count > CODE_VERSIONS)
		count = CODE_VERSIONS;
	options.key_count = count;
	return codespace_new(&options, err);
}

static int add_space(struct linkstore *ls,
		     const struct links_space_config *config, struct error *err)
{
	struct link_space *space = &ls->spaces[ls->space_count];
	struct codespace *codes = make_codes(config, err);

	if (!codes)
		return error_wrap(err, "links.spaces: %s", config->name);
	*space = (struct link_space){
		.name = config->name,
		.number = (unsigned)config->number,
		.length = (unsigned)config->length,
		.block_size = (uint32_t)config->block_size,
		.codes = codes,
		.store = ls,
		.index = ls->space_count++,
	};
	space->blocks = codespace_capacity(codes) / space->block_size;
	space->safety_gap = (uint64_t)ls->config->safety_gap;
	if (space->safety_gap > space->blocks / 64)
		space->safety_gap = space->blocks / 64;
	if (space->safety_gap == 0)
		space->safety_gap = 1;
	ls->by_length[space->length] = space;
	if (space->blocks == 0)
		return error_set(err, ERROR_CONFIG,
				 "links.spaces: %s: block_size is larger than "
				 "the space",
				 config->name);
	return 0;
}

static int add_spaces(struct linkstore *ls, struct error *err)
{
	const struct links_space_config *configs = ls->config->spaces.items;
	size_t count = ls->config->spaces.count;

	ls->spaces = calloc(count, sizeof(*ls->spaces));
	ls->cursors = calloc(count, sizeof(*ls->cursors));
	if (!ls->spaces || !ls->cursors)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (add_space(ls, &configs[i], err))
			return -1;
	return 0;
}

struct linkstore *linkstore_new(const struct links_config *config,
				struct error *err)
{
	struct linkstore *ls = calloc(1, sizeof(*ls));

	if (!ls) {
		error_set_nomem(err);
		return NULL;
	}
	ls->config = config;
	link_scripts_init(ls->scripts);
	if (add_classes(ls, err) || add_spaces(ls, err)) {
		linkstore_free(ls);
		return NULL;
	}
	return ls;
}

void linkstore_free(struct linkstore *ls)
{
	if (!ls)
		return;
	for (size_t i = 0; i < ls->space_count; i++)
		codespace_free(
			(struct codespace *)(uintptr_t)ls->spaces[i].codes);
	free(ls->spaces);
	free(ls->cursors);
	free(ls->classes);
	free(ls);
}

const struct links_config *linkstore_config(const struct linkstore *ls)
{
	return ls->config;
}

size_t linkstore_space_count(const struct linkstore *ls)
{
	return ls->space_count;
}

const struct link_space *linkstore_space(const struct linkstore *ls, size_t i)
{
	return &ls->spaces[i];
}

const struct link_space *linkstore_space_named(const struct linkstore *ls,
					       const char *name)
{
	if (!name)
		return ls->spaces;
	for (size_t i = 0; i < ls->space_count; i++)
		if (!strcmp(ls->spaces[i].name, name))
			return &ls->spaces[i];
	return NULL;
}

size_t linkstore_class_count(const struct linkstore *ls)
{
	return ls->class_count;
}

const struct link_class *linkstore_class(const struct linkstore *ls, size_t i)
{
	return &ls->classes[i];
}

const struct link_class *linkstore_class_named(const struct linkstore *ls,
					       const char *name)
{
	for (size_t i = 0; i < ls->class_count; i++)
		if (!strcmp(ls->classes[i].name, name))
			return &ls->classes[i];
	return NULL;
}

int64_t linkstore_longest_ttl(const struct linkstore *ls)
{
	int64_t longest = 0;

	for (size_t i = 0; i < ls->class_count; i++)
		if (ls->classes[i].ttl != DURATION_NEVER &&
		    ls->classes[i].ttl > longest)
			longest = ls->classes[i].ttl;
	return longest;
}

int64_t linkstore_renew_below(const struct linkstore *ls, uint64_t ttl_ms)
{
	if (ttl_ms == 0 || ttl_ms > INT64_MAX)
		return 0;
	return renew_below(ls->config, (int64_t)ttl_ms);
}

/* --- codes ---------------------------------------------------------------- */

/* Beyond the cursor by more than what a Redis that forgot may have granted, and
 * what may have been granted since the cursor was read. */
static bool was_never_issued(const struct link_space *space, uint64_t block)
{
	uint64_t next =
		atomic_load_explicit(&space->store->cursors[space->index].next,
				     memory_order_relaxed);

	return block >= space->blocks ||
	       (next && block >= next - 1 + space->safety_gap + CURSOR_MARGIN);
}

bool linkstore_locate(const struct linkstore *ls, const char *code, size_t len,
		      struct link_target *ret_target)
{
	const struct link_space *space;
	struct link_target target;

	if (len > CODE_LENGTH_MAX || !ls->by_length[len])
		return false;
	space = ls->by_length[len];
	if (!codespace_decode(space->codes, code, len, &target.id,
			      &target.version))
		return false;
	target.space = space;
	target.block = target.id / space->block_size;
	if (was_never_issued(space, target.block))
		return false;
	memcpy(target.code, code, len);
	target.code[len] = '\0';
	*ret_target = target;
	return true;
}

void linkstore_code(const struct link_space *space, uint64_t block,
		    uint32_t offset, struct link_target *ret_target)
{
	ret_target->space = space;
	ret_target->id = block * space->block_size + offset;
	ret_target->block = block;
	ret_target->version = codespace_version(space->codes);
	codespace_encode(space->codes, ret_target->id, ret_target->code);
}

void linkstore_note_cursor(const struct link_space *space, uint64_t cursor)
{
	_Atomic uint64_t *noted = &space->store->cursors[space->index].next;
	uint64_t seen = atomic_load_explicit(noted, memory_order_relaxed);

	while (cursor + 1 > seen &&
	       !atomic_compare_exchange_weak_explicit(noted, &seen, cursor + 1,
						      memory_order_relaxed,
						      memory_order_relaxed))
		;
}
