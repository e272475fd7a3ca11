/*
 * link_changer.h - changes, deletes or restores one link, for a caller.
 *
 * The link is looked up, changed and written back by compare-and-set, so that
 * two editors never overwrite each other's change unseen.  An order without an
 * expectation starts over from the new version; one with an expectation that
 * the new version does not meet is refused (412).
 *
 * If the answer to a write is lost, the change waits and the same write is sent
 * again, which counts once: every change in Redis must be reported.
 *
 * If a link is blocked or let go, the URLs that it leads to are blocked or let
 * go before the link itself (linkstore/url_blocks.h).
 *
 * A change that is in Redis is sent to Kafka and written to the audit before it
 * is answered.
 *
 * An order knows no request: its code, caller and source are parameters, so a
 * command with a loop of its own may give it.
 */
#ifndef ALLOCATOR_CHANGE_LINK_CHANGER_H
#define ALLOCATOR_CHANGE_LINK_CHANGER_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/audit/audit_line.h"
#include "allocator/create/creation.h"
#include "allocator/link/link_finding.h"
#include "allocator/link/link_patch.h"
#include "common/keys/api_keyring.h"
#include "common/loop/loop.h"

/* Shared by all threads. */
struct change_metrics {
	struct metric *changed, *deleted, *restored, *unchanged, *conflicts;
	struct metric *unsure; /* perhaps made, perhaps not */
};
void change_metrics_register(struct change_metrics *cm, struct metrics *m);

struct link_changer;

/* All of it outlives the changer. */
struct link_changer_options {
	struct loop *loop;
	/* Used of it: redis, urls, events, audit, log and failures. */
	const struct creation_context *creation;
	const struct link_rules *rules;
	const struct change_metrics *metrics;
	const struct link_finding_metrics *reads;
};

/* Belongs to the loop's thread. */
struct link_changer *link_changer_new(const struct link_changer_options *o,
				      struct error *err);
/* Call it when the loop no longer runs, and before Redis is freed: no change
 * waits after that. */
void link_changer_stop(struct link_changer *changer);
/* Call it when no change is under way; NULL accepted. */
void link_changer_free(struct link_changer *changer);

/* Returns whether the present link is one that the order means. */
typedef bool link_expected_fn(const void *arg, const Shortloop__Link *link,
			      const char *etag);

struct change_order {
	struct http_slice code; /* read during link_changer_change only */
	const struct api_key_info *caller; /* the same */
	/* These are valid until the change is done. */
	const struct audit_source *source;
	/* NULL: the link is deleted, unless `restores` is set. */
	const struct link_patch *patch;
	/* A deletion for good: what the link was is removed from Redis, also if
	 * the link has been deleted before. */
	bool purges;
	/* A link that was deleted, and not purged, comes back as it was.  A
	 * link that is not deleted stays as it is, which is a success. */
	bool restores;
	link_expected_fn *is_expected; /* NULL: any version is changed */
	const void *expected;	       /* its argument */
	/* Only reads and checks: nothing is written. */
	bool dry_run;
	/* A change to what the link is already is not written and is a success.
	 * So is the deletion of a deleted link.  A ttl that the link has does
	 * not begin again. */
	bool skip_unchanged;
};

/* Valid during the call. */
struct change_result {
	int status;	     /* 200, or of a problem */
	const char *detail;  /* advice, for a problem */
	const char *type;    /* of a problem; NULL: that of its status */
	int64_t retry_after; /* s, for a problem; 0: not given */
	bool deletes;
	bool changed; /* it was written or, in a dry run, would be */
	const struct link_space *space;
	const char *code;
	const Shortloop__Link *link; /* as it is now, or would be */
	int64_t expires;	     /* ms since 1970, or DURATION_NEVER */
};
typedef void change_done_fn(void *arg, const struct change_result *result);

/* Calls `done` exactly once, perhaps before it returns. */
void link_changer_change(struct link_changer *changer,
			 const struct change_order *order, change_done_fn *done,
			 void *arg);

#endif
