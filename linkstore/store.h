/* store.h - the members of struct linkstore.  For linkstore/ only. */
#ifndef LINKSTORE_STORE_H
#define LINKSTORE_STORE_H

#include <stdatomic.h>

#include "linkstore/linkstore.h"
#include "linkstore/scripts.h"

struct noted_cursor {
	_Atomic uint64_t next;	  /* cursor + 1; 0: not known yet */
	_Atomic uint64_t read_at; /* boottime ms; 0: never */
	_Atomic uint64_t gap;	  /* the widest noted */
	_Atomic uint64_t moves;	  /* like struct high_water */
	_Atomic uint64_t generation;
	_Atomic int64_t clock; /* Redis' clock minus boottime, ms; 0: unknown */
	_Atomic unsigned missing_keys;	    /* bit v: version v */
	_Atomic unsigned missing_keys_used; /* missing keys that made codes */
	_Atomic int hash_codes; /* url_code_method + 1; 0: not known yet */
};

struct linkstore {
	const struct links_config *config;
	struct link_space *spaces;
	size_t space_count;
	struct noted_cursor *cursors; /* one per space */
	const struct link_space *by_length[CODE_LENGTH_MAX + 1];
	const struct link_space *aliases; /* NULL: none */
	struct link_class *classes;
	size_t class_count;
	struct redis_script scripts[SCRIPT_COUNT_OF];
	struct redis_scripts loaded; /* all of them */
};

#endif
