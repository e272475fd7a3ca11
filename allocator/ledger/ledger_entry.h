/* ledger_entry.h - the ledger of one space, read and written as JSON. */
#ifndef ALLOCATOR_LEDGER_LEDGER_ENTRY_H
#define ALLOCATOR_LEDGER_LEDGER_ENTRY_H

#include <jansson.h>

#include "allocator/ledger/outlook.h"
#include "common/error.h"
#include "linkstore/linkstore.h"

enum ledger_state {
	LEDGER_UNREAD, /* Redis has not answered yet */
	LEDGER_READ,
	LEDGER_MISSING, /* the space was not created, or lost its cursor */
};

struct ledger_entry {
	const struct link_space *space;
	enum ledger_state state;
	struct space_ledger ledger; /* the latest reading */
	struct outlook outlook;
};

/* Reads one space.  Returns -1 if Redis did not answer; the entry stays the
 * same then. */
int ledger_entry_read(struct redis *redis, struct ledger_entry *entry,
		      struct error *err);

/* Returns a new reference, or NULL (out of memory). */
json_t *ledger_entry_json(const struct ledger_entry *entry);

/* Returns {"spaces":[...]}. */
json_t *ledger_json(const struct ledger_entry *entries, size_t count);

#endif
