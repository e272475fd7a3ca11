/* ledger_entry.h - one space as the ledger shows it. */
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
	struct space_ledger ledger; /* of the latest reading */
	struct outlook outlook;
};

/* Reads one space.  -1: Redis did not answer, the entry is as it was. */
int ledger_entry_read(struct redis *redis, struct ledger_entry *entry,
		      struct error *err);

/* A new reference, or NULL (out of memory). */
json_t *ledger_entry_json(const struct ledger_entry *entry);

/* {"spaces":[...]}. */
json_t *ledger_json(const struct ledger_entry *entries, size_t count);

#endif
