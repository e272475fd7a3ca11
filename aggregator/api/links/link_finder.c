#include "aggregator/api/links/link_finder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "linkstore/link/names.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* One text for all cases: it must not reveal what the archive has. */
#define NOT_TOLD                                                               \
	"whether the link exists is not known at present: Redis, which has "   \
	"the new links, does not answer"

/* The link that a question is about: by `code`, or by `link_id` if `code` is
 * "". */
struct sought {
	const char *code;
	uint64_t link_id;
};

/* --- a link from Redis ---------------------------------------------------- */

/* Replaces invalid bytes like the archive's toValidUTF8: answers are JSON. */
static void put_valid(struct buf *out, const char *text)
{
	size_t left = strlen(text), n;

	for (; left; text += n, left -= n) {
		n = utf8_sequence(text, left);
		if (n)
			buf_append(out, text, n);
		else
			buf_puts(out, REPLACEMENT);
		n = n ? n : 1;
	}
}

static bool copy_valid(char *to, size_t size, const char *text)
{
	struct buf valid = {0};
	bool done;

	put_valid(&valid, text);
	done = buf_cstr(&valid) != NULL;
	if (done)
		snprintf(to, size, "%s", valid.data);
	buf_free(&valid);
	return done;
}

struct stored_link {
	struct archived_link link;
	bool complete; /* no allocation failed */
};

/* Fills in what the archive will have of the link, but with its present end. */
static void take_stored(void *arg, const struct link_target *target,
			const struct link_answer *answer)
{
	const Shortloop__Link *link = answer->link;
	struct stored_link *stored = arg;
	struct archived_link *ret = &stored->link;

	*ret = (struct archived_link){
		.link_id = link->link_id,
		.generation = link->generation,
		.created_at = (int64_t)link->created_ms,
		.expires_at = redis_links_end(answer->ttl_left),
		.max_visits = link->max_visits,
	};
	snprintf(ret->code, sizeof(ret->code), "%s", target->code);
	snprintf(ret->state, sizeof(ret->state), "%s",
		 link_state_name(link->state));
	put_valid(&ret->url, link->url);
	stored->complete =
		buf_cstr(&ret->url) &&
		copy_valid(ret->owner, sizeof(ret->owner), link->owner) &&
		copy_valid(ret->ttl_class, sizeof(ret->ttl_class),
			   link->ttl_class) &&
		copy_valid(ret->account, sizeof(ret->account), link->account);
}

/* --- both stores ---------------------------------------------------------- */

static bool is_seen(const struct link_finder *f,
		    const struct archived_link *link)
{
	const struct key_link whose = {.account = link->account,
				       .owner = link->owner};

	return access_sees_link(f->access, &whose) &&
	       access_is_about_link(f->access, link->link_id);
}

/* Turns ERROR_NOTFOUND into success: *ret stays zeroed, and no link_id is 0. */
static int accept_absence(int status, struct error *err)
{
	if (status == 0 || err->code != ERROR_NOTFOUND)
		return status;
	*err = (struct error){0};
	return 0;
}

static int ask_archive(const struct link_finder *f, const struct sought *what,
		       struct archived_link *ret, struct error *err)
{
	int status =
		*what->code ? archive_find_code(f->ch, what->code, ret, err)
			    : archive_find_link(f->ch, what->link_id, ret, err);

	return accept_absence(status, err);
}

static int ask_redis(const struct link_finder *f, const struct sought *what,
		     struct archived_link *ret, struct error *err)
{
	struct stored_link stored = {.complete = true};
	int status;

	if (!f->redis)
		return 0;
	status = *what->code ? redis_links_find_code(f->redis, what->code,
						     take_stored, &stored, err)
			     : redis_links_find_id(f->redis, what->link_id,
						   take_stored, &stored, err);
	*ret = stored.link;
	return stored.complete ? accept_absence(status, err)
			       : error_set_nomem(err);
}

/* Moves the newer of both links to *ret.  If they are the same link, the
 * archive's is taken, which is also the later answer. */
static void take_newer(struct archived_link *archived,
		       struct archived_link *stored, struct archived_link *ret)
{
	struct archived_link *newer =
		stored->link_id > archived->link_id ? stored : archived;

	*ret = *newer;
	*newer = (struct archived_link){0};
}

/*
 * Redis is queried although the archive has a link of that code: the code may
 * have been given to another link since.  The archive is seconds behind, or
 * hours if the collectors are, and may not have the new link.  The former
 * link's counts are no answer to a question about the new one.  A query of
 * Redis takes a small part of the time that the counts take.
 *
 * If Redis does not answer, a link of the archive that the caller sees is the
 * answer.  A link that the caller does not see is treated like an unknown one:
 * the answers must not differ.
 */
static int find_visible_link(const struct link_finder *f,
			     const struct sought *what,
			     struct archived_link *ret, struct error *err)
{
	struct archived_link archived = {0}, stored = {0};
	struct error why = {0};
	bool seen;
	int status = ask_archive(f, what, &archived, err);

	if (status < 0)
		goto out;
	seen = archived.link_id && is_seen(f, &archived);
	/* A link_id means the same link for ever. */
	if (!(seen && what->link_id) && ask_redis(f, what, &stored, &why) < 0 &&
	    !seen) {
		*err = why;
		status = why.code == ERROR_REMOTE
				 ? error_keep_inside(err, NOT_TOLD)
				 : -1;
		goto out;
	}
	take_newer(&archived, &stored, ret);
	/* Redis has the link for some time after the archive has forgotten it.
	 */
	if (!ret->link_id || !strcmp(ret->state, ARCHIVE_FORGOTTEN) ||
	    !is_seen(f, ret))
		status =
			error_set(err, ERROR_NOTFOUND, "there is no such link");
out:
	archived_link_release(&archived);
	archived_link_release(&stored);
	return status;
}

int link_find_code(const struct link_finder *f, const char *code,
		   struct archived_link *ret, struct error *err)
{
	const struct sought what = {.code = code};

	if (find_visible_link(f, &what, ret, err) < 0)
		return error_wrap(err, "code %s", code);
	return 0;
}

int link_find_id(const struct link_finder *f, uint64_t link_id,
		 struct archived_link *ret, struct error *err)
{
	const struct sought what = {.code = "", .link_id = link_id};

	if (find_visible_link(f, &what, ret, err) < 0)
		return error_wrap(err, "link_id %" PRIu64, link_id);
	return 0;
}

int link_find(const struct link_finder *f, const char *code, uint64_t link_id,
	      struct archived_link *ret, struct error *err)
{
	return *code ? link_find_code(f, code, ret, err)
		     : link_find_id(f, link_id, ret, err);
}
