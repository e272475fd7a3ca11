/* create_command.h - what the one link and the batch share.  For
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
	link_created_fn *fn; /* of a batch */
	void *arg;
};

/* Fills code, start and len, and appends the record to `records`; on an error
 * that is as before. */
int create_entry_pack(const char *code, const Shortloop__Link *link,
		      struct buf *records, struct create_entry *ret_entry,
		      struct error *err);

void create_command_build(struct command *c, const struct link_block *block,
			  const struct create_entry *entries, size_t count,
			  const struct buf *records);

/* Was the block ours?  Errors as link_writer_create. */
int create_command_check(const redisReply *reply,
			 const struct link_block *block, size_t count,
			 int64_t *ret_expires, struct error *err);

/* And was link i stored? */
int create_command_result(const redisReply *reply, size_t i, const char *code,
			  struct error *err);

#endif
