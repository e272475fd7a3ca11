/* create_command.h - shared by the creation of one link and of a batch.  For
 * linkstore/block/ only. */
#ifndef LINKSTORE_BLOCK_CREATE_COMMAND_H
#define LINKSTORE_BLOCK_CREATE_COMMAND_H

#include "linkstore/block/block.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/command.h"

struct create_entry {
	char code[CODE_TEXT_MAX];
	size_t start, len;   /* the record, in a buffer of all records */
	int64_t deadline;    /* ms; 0: none */
	link_created_fn *fn; /* for a batch */
	void *arg;
};

/* Fills code, start and len, and appends the record to `records`, which stays
 * the same on an error. */
int create_entry_pack(const char *code, const Shortloop__Link *link,
		      struct buf *records, struct create_entry *ret_entry,
		      struct error *err);

void create_command_build(struct command *c, const struct link_block *block,
			  const struct create_entry *entries, size_t count,
			  const struct buf *records);

/* Checks that the block was ours.  Errors as link_writer_create. */
int create_command_check(const redisReply *reply,
			 const struct link_block *block, size_t count,
			 int64_t *ret_expires, struct error *err);

/* Checks that link i was stored. */
int create_command_result(const redisReply *reply, size_t i, const char *code,
			  struct error *err);

#endif
