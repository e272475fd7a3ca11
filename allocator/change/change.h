/* change.h - one change under way, and its ends; shared by the sources of this
 * folder. */
#ifndef ALLOCATOR_CHANGE_CHANGE_H
#define ALLOCATOR_CHANGE_CHANGE_H

#include "allocator/change/link_changer.h"
#include "linkstore/target.h"

enum {
	CHANGE_TRIES_MAX = 5
};

struct link_changer {
	struct link_changer_options o;
	/* NULL: it is stopped. */
	struct link_reader *reader;
	struct link_editor *editor;
	/* The changes whose answer was lost, and the timer that sends them
	 * again (NULL: they are not sent). */
	struct change *unsure;
	struct loop_timer *resend_timer;
};

struct change {
	struct link_changer *changer;
	struct change_order order;
	change_done_fn *done;
	void *arg;
	struct api_key_info caller;
	struct link_target target;
	Shortloop__Link *before, *after; /* version read; version written */
	int64_t ttl_left;		 /* of the version read */
	int64_t charged; /* bytes of growth that the account has paid for */
	bool urls_noted; /* blocked or let go already, before the link */
	/* Looks the link up again, after another editor was faster. */
	void (*start_over)(struct change *c, const struct error *why);
	unsigned tries;
	/* A write whose answer was lost: */
	int64_t unsure_since; /* loop_now_ms; 0: no answer was lost */
	unsigned resent;
	struct change *next; /* in the list of changes to be sent again */
};

static inline bool change_deletes(const struct change *c)
{
	return !c->order.patch && !c->order.restores;
}

/* The fields that the patch gives; 0 without a patch. */
static inline unsigned change_gives(const struct change *c)
{
	return c->order.patch ? c->order.patch->fields.given : 0;
}

/* The new TTL; NULL: the link keeps its own. */
static inline const struct link_class *change_ttl(const struct change *c)
{
	return c->order.patch ? c->order.patch->fields.ttl : NULL;
}

static inline bool change_is_blocked(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED;
}

/* Each of these answers the change and frees it. */
void change_end(struct change *c, const struct change_result *result);
void change_refuse(struct change *c, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Answers 503, and counts a write whose result is unknown. */
void change_fail(struct change *c, const struct error *err);
void change_finish(struct change *c, const Shortloop__Link *link, bool changed,
		   int64_t expires);

/* Counts and logs that the result of a write stays unknown. */
void change_note_doubt(const struct change *c, const struct error *err);
/* Frees `before` and `after`. */
void change_free_versions(struct change *c);

#endif
