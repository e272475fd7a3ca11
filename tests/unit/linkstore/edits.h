/* edits.h - reading, editing and deleting a link in a test. */
#ifndef TESTS_UNIT_LINKSTORE_EDITS_H
#define TESTS_UNIT_LINKSTORE_EDITS_H

#include "tests/unit/linkstore/fixture.h"

#include "codespace/link_id.h"
#include "linkstore/link/edit.h"
#include "linkstore/standalone.h"

static inline struct link_answer read_link(struct fixture *f,
					   const struct link_target *t)
{
	struct link_answer answer;

	must(f, await_lookup(f->await, t, &answer, &f->err));
	return answer;
}

static inline const char *url_at(struct fixture *f, const struct link_target *t,
				 char text[64])
{
	struct link_answer answer = read_link(f, t);

	snprintf(text, 64, "%s", answer.link ? answer.link->url : "");
	await_release(&answer.link);
	return text;
}

/* Stores a standalone link: "https://example.org/" for a day. */
static inline struct link_target store_alias(struct fixture *f, uint64_t number)
{
	Shortloop__Link link = empty_link();
	struct standalone_result result;
	struct link_target t;

	must(f, linkstore_alias(f->store, "sale-26", 7, &t, &f->err));
	link.url = text_of("https://example.org/");
	link.owner = text_of("shop");
	link.creator = text_of("key");
	link.source = SHORTLOOP__LINK_SOURCE__SOURCE_BATCH;
	standalone_prepare(f->day, link_id_blockless(number), &link);
	must(f, await_standalone(f->await, &t, &link, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
	return t;
}

/* Changes the URL of the link that was read. */
static inline int try_edit(struct fixture *f, const struct link_target *t,
			   const struct link_answer *read, const char *url,
			   const struct link_class *ttl, int64_t *ret_expires)
{
	Shortloop__Link after = *read->link;

	after.url = text_of(url);
	link_edit_prepare(read->link, ttl, &after);
	return await_edit(f->await, t, read->link, &after, ttl, ret_expires,
			  &f->err);
}

static inline int64_t edit_link(struct fixture *f, const struct link_target *t,
				const char *url, const struct link_class *ttl)
{
	struct link_answer read = read_link(f, t);
	int64_t expires = 0;

	must(f, try_edit(f, t, &read, url, ttl, &expires));
	await_release(&read.link);
	return expires;
}

static inline int try_delete(struct fixture *f, const struct link_target *t,
			     const struct link_answer *read)
{
	Shortloop__Link after;
	int64_t expires;

	link_edit_delete(read->link, read->ttl_left, &after);
	after.editor = text_of("me");
	after.changed_ms = 1700000000000;
	return await_edit(f->await, t, read->link, &after, NULL, &expires,
			  &f->err);
}

static inline void delete_link(struct fixture *f, const struct link_target *t)
{
	struct link_answer read = read_link(f, t);

	must(f, try_delete(f, t, &read));
	await_release(&read.link);
}

/* Blocks a link, or lets it go, as a moderator does. */
static inline int try_moderate(struct fixture *f, const struct link_target *t,
			       bool blocked, const struct link_class *ttl,
			       int64_t *ret_expires)
{
	struct link_answer read = read_link(f, t);
	Shortloop__Link after = *read.link;
	int status;

	link_edit_prepare(read.link, ttl, &after);
	after.state = blocked ? SHORTLOOP__LINK_STATE__LINK_BLOCKED
			      : SHORTLOOP__LINK_STATE__LINK_LIVE;
	after.editor = text_of("the one who moderates");
	after.changed_ms = 1700000000000;
	link_edit_keep_life(read.link, ttl, read.ttl_left, &after);
	status = await_edit(f->await, t, read.link, &after, ttl, ret_expires,
			    &f->err);
	await_release(&read.link);
	return status;
}

static inline int64_t moderate_link(struct fixture *f,
				    const struct link_target *t, bool blocked)
{
	int64_t expires = 0;

	must(f, try_moderate(f, t, blocked, NULL, &expires));
	return expires;
}

#endif
