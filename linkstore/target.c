/* Maps a code to the place of its link, and back. */
#include "linkstore/target.h"

#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/store.h"

/* Blocks that all allocators may be granted between two readings of a cursor,
 * if no more is known about them. */
#define CURSOR_MARGIN 1000

/* A reading of the cursor proves for this time that higher blocks were not
 * issued.  The gap is derived from the grants of a minute. */
#define CURSOR_FRESH CLOCK_MINUTE

/* The clock of a snowflake's maker may be ahead of Redis' by this much. */
#define CLOCK_MARGIN CLOCK_MINUTE

static void set_code(struct link_target *target, const char *code, size_t len)
{
	memcpy(target->code, code, len);
	target->code[len] = '\0';
}

/* --- reading -------------------------------------------------------------- */

/* Returns whether the block is above the cursor by more than what a Redis that
 * lost data may have granted, and what may have been granted since the cursor
 * was read. */
static bool is_far_above(const struct link_space *space,
			 const struct noted_cursor *noted, uint64_t block)
{
	uint64_t next = atomic_load_explicit(&noted->next,
					     memory_order_relaxed),
		 gap = atomic_load_explicit(&noted->gap, memory_order_relaxed);

	if (gap < space->safety_gap)
		gap = space->safety_gap;
	/* The gap is twice the grants of a busy minute: once for a Redis that
	 * lost data, once for grants since the cursor was read. */
	return next && block >= next - 1 + 2 * gap + CURSOR_MARGIN;
}

/* A program that is cut off from Redis does not see that allocators go on, so a
 * cursor read long ago refuses nothing.  The time is loaded before the cursor,
 * which is then of that reading or a later one.  The clock is read only for a
 * block that is far above. */
static bool was_never_issued(const struct link_space *space, uint64_t block)
{
	const struct noted_cursor *noted = &space->store->cursors[space->index];
	int64_t read_at = (int64_t)atomic_load_explicit(&noted->read_at,
							memory_order_acquire);

	if (block >= space->blocks)
		return true;
	return read_at && is_far_above(space, noted, block) &&
	       clock_boottime_ms() - read_at < CURSOR_FRESH;
}

static bool locate_sequence(const struct link_space *space, const char *code,
			    size_t len, struct link_target *target)
{
	if (!codespace_decode(space->codes, code, len, &target->id,
			      &target->version))
		return false;
	target->block = target->id / space->block_size;
	return !was_never_issued(space, target->block);
}

/* Compares with this host's clock and with Redis': a clock that went back
 * refuses nothing. */
static bool is_past(const struct link_space *space, int64_t ms)
{
	return ms <= clock_real_ms() || ms <= linkstore_now_ms(space);
}

static bool locate_snowflake(const struct link_space *space, const char *code,
			     size_t len, struct link_target *target)
{
	int64_t made;

	return snowflake_codes_decode(space->snowflakes, code, len, &target->id,
				      &made, &target->version) &&
	       is_past(space, made - CLOCK_MARGIN);
}

/* If it is not known yet how the codes are made, only Redis can decide. */
static bool locate_hash(const struct link_space *space, const char *code,
			size_t len)
{
	const struct url_codes *known = linkstore_hash_codes(space);

	if (known)
		return url_code_fits(known, code, len);
	for (int i = 0; i < URL_CODE_METHODS; i++)
		if (space->url_codes[i] &&
		    url_code_fits(space->url_codes[i], code, len))
			return true;
	return false;
}

static bool locate_in(const struct link_space *space, const char *code,
		      size_t len, struct link_target *target)
{
	struct error ignored;

	switch (space->strategy) {
	case LINK_SEQUENCE:
		return locate_sequence(space, code, len, target);
	case LINK_HASH:
		return locate_hash(space, code, len);
	case LINK_SNOWFLAKE:
		return locate_snowflake(space, code, len, target);
	case LINK_ALIAS:
		return alias_check(code, len, &ignored) == 0;
	}
	return false;
}

bool link_targets_share_slot(const struct link_target *a,
			     const struct link_target *b)
{
	if (a->space != b->space || a->block != b->block)
		return false;
	return link_space_has_blocks(a->space) || !strcmp(a->code, b->code);
}

const struct link_space *linkstore_space_for(const struct linkstore *ls,
					     const char *code, size_t len)
{
	if (len < 1 || len > ALIAS_LENGTH_MAX)
		return NULL;
	if (len <= CODE_LENGTH_MAX && ls->by_length[len] &&
	    !memchr(code, '-', len) && !memchr(code, '_', len))
		return ls->by_length[len];
	return ls->aliases;
}

bool linkstore_locate(const struct linkstore *ls, const char *code, size_t len,
		      struct link_target *ret_target)
{
	const struct link_space *space = linkstore_space_for(ls, code, len);
	struct link_target target = {.space = space};

	if (!space || !locate_in(space, code, len, &target))
		return false;
	set_code(&target, code, len);
	*ret_target = target;
	return true;
}

const struct link_space *linkstore_space_of_id(const struct linkstore *ls,
					       uint64_t link_id)
{
	unsigned number = link_id_unpack(link_id).space;

	if (link_id_is_blockless(link_id))
		return NULL;
	for (size_t i = 0; i < ls->space_count; i++)
		if (ls->spaces[i].number == number &&
		    link_space_has_blocks(&ls->spaces[i]))
			return &ls->spaces[i];
	return NULL;
}

bool linkstore_locate_id(const struct linkstore *ls, uint64_t link_id,
			 unsigned version, struct link_target *ret_target)
{
	const struct link_space *space = linkstore_space_of_id(ls, link_id);
	struct link_target target = {.space = space, .version = version};

	if (!space || !codespace_has_version(space->codes, version))
		return false;
	target.id = link_id_unpack(link_id).id;
	target.block = target.id / space->block_size;
	if (was_never_issued(space, target.block))
		return false;
	codespace_encode_version(space->codes, version, target.id, target.code);
	*ret_target = target;
	return true;
}

bool linkstore_lacks_key(const struct linkstore *ls, const char *code,
			 size_t len)
{
	const struct link_space *space = linkstore_space_for(ls, code, len);
	unsigned missing, version = CODE_VERSIONS;

	missing = space ? linkstore_missing_keys(space, false) : 0;
	if (!missing)
		return false;
	if (space->codes)
		version = codespace_version_of(space->codes, code, len);
	else if (space->snowflakes)
		version = snowflake_codes_version_of(space->snowflakes, code,
						     len);
	return version < CODE_VERSIONS && missing >> version & 1;
}

/* --- encoding ------------------------------------------------------------- */

void linkstore_code(const struct link_space *space, uint64_t block,
		    uint32_t offset, struct link_target *ret_target)
{
	ret_target->space = space;
	ret_target->id = block * space->block_size + offset;
	ret_target->block = block;
	ret_target->version = codespace_version(space->codes);
	codespace_encode(space->codes, ret_target->id, ret_target->code);
}

int linkstore_hash_code(const struct link_space *space,
			const struct url_code_subject *of, unsigned attempt,
			struct link_target *ret_target, struct error *err)
{
	const struct url_codes *codes = linkstore_hash_codes(space);
	struct link_target target = {.space = space};

	if (!codes)
		return error_set(err, ERROR_NOTFOUND,
				 "how codes of space %s are made is not known "
				 "before its record has been read",
				 space->name);
	if (url_code_candidate(codes, of, attempt, target.code, err))
		return -1;
	*ret_target = target;
	return 0;
}

void linkstore_snowflake_code(const struct link_space *space, uint64_t id,
			      struct link_target *ret_target)
{
	*ret_target = (struct link_target){
		.space = space,
		.id = id,
		.version = snowflake_codes_version(space->snowflakes),
	};
	snowflake_codes_encode(space->snowflakes, id, ret_target->code);
}

static int refuse_alias(const struct linkstore *ls, const char *alias,
			size_t len, struct error *err)
{
	const struct setting_strings *words = &ls->config->reserved_aliases;
	const struct link_space *space = linkstore_space_for(ls, alias, len);

	if (alias_is_reserved(alias, len, (const char *const *)words->items,
			      words->count))
		return error_set(err, ERROR_TAKEN,
				 "the alias %.*s is reserved; choose "
				 "another",
				 (int)len, alias);
	if (space != ls->aliases)
		return error_set(err, ERROR_TAKEN,
				 "generated codes have %zu characters, too, so "
				 "that %.*s may become one: take another "
				 "length, or put a - or _ into it",
				 len, (int)len, alias);
	return 0;
}

int linkstore_alias(const struct linkstore *ls, const char *alias, size_t len,
		    struct link_target *ret_target, struct error *err)
{
	struct link_target target = {.space = ls->aliases};

	if (!ls->aliases)
		return error_set(err, ERROR_NOTFOUND,
				 "no space of aliases is configured");
	if (alias_check(alias, len, err) || refuse_alias(ls, alias, len, err))
		return -1;
	set_code(&target, alias, len);
	*ret_target = target;
	return 0;
}

/* --- notes of the issued blocks ------------------------------------------- */

/* A thread that acquires the value also sees what the noting thread wrote
 * before. */
static void raise_to(_Atomic uint64_t *noted, uint64_t value)
{
	uint64_t old = atomic_load_explicit(noted, memory_order_relaxed);

	while (value > old && !atomic_compare_exchange_weak_explicit(
				      noted, &old, value, memory_order_release,
				      memory_order_relaxed))
		;
}

void linkstore_note_cursor(const struct link_space *space, uint64_t cursor,
			   int64_t asked)
{
	struct noted_cursor *noted = &space->store->cursors[space->index];

	raise_to(&noted->next, cursor + 1);
	raise_to(&noted->read_at, (uint64_t)asked);
}

void linkstore_note_high_water(const struct link_space *space,
			       const struct high_water *high_water)
{
	struct noted_cursor *noted = &space->store->cursors[space->index];

	/* Cursor 0 means that no block was seen; the cursor may be anywhere. */
	if (high_water->cursor)
		raise_to(&noted->next, high_water->cursor + 1);
	raise_to(&noted->moves, high_water->moves);
	raise_to(&noted->generation, high_water->generation);
}

struct high_water linkstore_noted_high_water(const struct link_space *space)
{
	struct noted_cursor *noted = &space->store->cursors[space->index];
	uint64_t next =
		atomic_load_explicit(&noted->next, memory_order_relaxed);

	return (struct high_water){
		.cursor = next ? next - 1 : 0,
		.moves = atomic_load_explicit(&noted->moves,
					      memory_order_relaxed),
		.generation = (uint32_t)atomic_load_explicit(
			&noted->generation, memory_order_relaxed),
	};
}

void linkstore_note_gap(const struct link_space *space, uint64_t gap)
{
	raise_to(&space->store->cursors[space->index].gap, gap);
}

void linkstore_note_clock(const struct link_space *space, int64_t redis_ms)
{
	atomic_store_explicit(&space->store->cursors[space->index].clock,
			      redis_ms - clock_boottime_ms(),
			      memory_order_relaxed);
}

int64_t linkstore_now_ms(const struct link_space *space)
{
	int64_t clock =
		atomic_load_explicit(&space->store->cursors[space->index].clock,
				     memory_order_relaxed);

	return clock ? clock_boottime_ms() + clock : clock_real_ms();
}

/* --- notes of the record -------------------------------------------------- */

void linkstore_note_hash_codes(const struct link_space *space,
			       enum url_code_method method)
{
	atomic_store_explicit(&space->store->cursors[space->index].hash_codes,
			      (int)method + 1, memory_order_relaxed);
}

const struct url_codes *linkstore_hash_codes(const struct link_space *space)
{
	int noted = atomic_load_explicit(
		&space->store->cursors[space->index].hash_codes,
		memory_order_relaxed);
	const struct url_codes *one = NULL;
	int count = 0;

	for (int i = 0; i < URL_CODE_METHODS; i++) {
		if (!space->url_codes[i])
			continue;
		one = space->url_codes[i];
		count++;
	}
	if (count == 1)
		return one;
	return noted ? space->url_codes[noted - 1] : NULL;
}

void linkstore_note_missing_keys(const struct link_space *space,
				 unsigned missing, unsigned used)
{
	struct noted_cursor *noted = &space->store->cursors[space->index];

	atomic_store_explicit(&noted->missing_keys, missing,
			      memory_order_relaxed);
	atomic_store_explicit(&noted->missing_keys_used, used,
			      memory_order_relaxed);
}

unsigned linkstore_missing_keys(const struct link_space *space, bool used)
{
	struct noted_cursor *noted = &space->store->cursors[space->index];

	return atomic_load_explicit(used ? &noted->missing_keys_used
					 : &noted->missing_keys,
				    memory_order_relaxed);
}

int linkstore_key_version(const struct link_space *space)
{
	switch (space->strategy) {
	case LINK_SEQUENCE:
		return (int)codespace_version(space->codes);
	case LINK_SNOWFLAKE:
		return (int)snowflake_codes_version(space->snowflakes);
	case LINK_HASH:
	case LINK_ALIAS:
		break;
	}
	return -1;
}
