#include "aggregator/forget/named_link.h"

#include <stdio.h>
#include <string.h>

#include "aggregator/api/links/archive.h"
#include "aggregator/api/links/redis_links.h"
#include "common/clock.h"
#include "linkstore/link/edit.h"

#define REDIS_PATIENCE (30 * CLOCK_SECOND)
#define POLL_MS	       100

/* --- the archive ------------------------------------------------------------
 */

static bool was_live(const struct archived_link *link, int64_t now)
{
	return (!strcmp(link->state, "live") ||
		!strcmp(link->state, "paused")) &&
	       (!link->expires_at || link->expires_at > now);
}

/* The answers of the two sources; zeroed: the source has no such link. */
struct archived {
	struct named_link link;
	char space[256];
};
struct stored {
	struct named_link link;
	/* Redis was queried for the archived link's code, in that link's
	 * space. */
	bool tells_of_archived;
};

static int ask_archive(struct clickhouse *ch, const char *code,
		       uint64_t link_id, int64_t now, struct archived *ret,
		       struct error *err)
{
	struct archived_link link = {0};
	int status = code ? archive_find_code(ch, code, &link, err)
			  : archive_find_link(ch, link_id, &link, err);

	if (status == 0) {
		ret->link.link_id = link.link_id;
		ret->link.is_live = was_live(&link, now);
		snprintf(ret->link.code, sizeof(ret->link.code), "%s",
			 link.code);
		snprintf(ret->space, sizeof(ret->space), "%s", link.space);
	}
	archived_link_release(&link);
	return status;
}

/* --- Redis ------------------------------------------------------------------
 */

static void take_link(void *arg, const struct link_target *target,
		      const struct link_answer *answer)
{
	struct named_link *ret = arg;

	ret->link_id = answer->link->link_id;
	ret->is_live = answer->outcome == LINK_OUTCOME_REDIRECT ||
		       answer->outcome == LINK_OUTCOME_PAUSED;
	ret->may_return = link_edit_may_restore(answer->link);
	snprintf(ret->code, sizeof(ret->code), "%s", target->code);
}

/* *ret stays zeroed if Redis has no such link. */
static int look_up(struct redis_links *redis, const char *code,
		   uint64_t link_id, struct named_link *ret, struct error *err)
{
	int status =
		code ? redis_links_find_code(redis, code, take_link, ret, err)
		     : redis_links_find_id(redis, link_id, take_link, ret, err);

	if (status == 0 || err->code != ERROR_NOTFOUND)
		return status;
	*err = (struct error){0};
	return 0;
}

/* Retries, because queries begin before the connection is made, and a space
 * gives no answers until its definition is compared. */
static int look_up_patiently(const struct link_sources *sources,
			     struct redis_links *redis, const char *code,
			     uint64_t link_id, struct named_link *ret,
			     struct error *err)
{
	int64_t until = clock_monotonic_ms() + REDIS_PATIENCE;

	for (;;) {
		*err = (struct error){0};
		if (look_up(redis, code, link_id, ret, err) == 0)
			return 0;
		if (!err->retriable || clock_monotonic_ms() >= until)
			return error_wrap(err, "whether the link is live");
		if (app_should_stop(sources->app, POLL_MS))
			return error_set_retriable(err, ERROR_STOPPED,
						   "stopped");
	}
}

/* Queries by the link's code if it is known: not every number determines it. */
static int ask_redis(const struct link_sources *sources, const char *code,
		     uint64_t link_id, const struct archived *archived,
		     struct stored *ret, struct error *err)
{
	const char *known = archived->link.link_id ? archived->link.code : code;
	const struct redis_links_options options = {
		.config = sources->config,
		.log = app_log(sources->app),
		.metrics = app_metrics(sources->app),
		.health = app_health(sources->app),
	};
	struct redis_links *redis = redis_links_new(&options, err);
	int status = redis ? redis_links_start(redis, err) : -1;

	if (status == 0)
		status = look_up_patiently(sources, redis, known, link_id,
					   &ret->link, err);
	ret->tells_of_archived =
		status == 0 && archived->link.link_id &&
		redis_links_covers(redis, archived->link.code, archived->space);
	redis_links_free(redis);
	return status;
}

/* --- both -------------------------------------------------------------------
 */

/* If Redis answered and does not have the archived link, a live link is
 * lost. */
static void take_archived(const struct archived *archived,
			  const struct stored *stored, struct named_link *ret)
{
	*ret = archived->link;
	ret->is_lost = ret->is_live && stored->tells_of_archived;
	if (ret->is_lost)
		ret->is_live = false;
}

int named_link_find(const struct link_sources *sources, const char *code,
		    uint64_t link_id, int64_t now, struct named_link *ret,
		    struct error *err)
{
	struct archived archived = {0};
	struct stored stored = {0};
	struct error why = {0};
	int status =
		ask_archive(sources->ch, code, link_id, now, &archived, &why);

	if (status < 0 && why.code != ERROR_NOTFOUND) {
		*err = why;
		return -1;
	}
	if (sources->config->links.spaces.count &&
	    ask_redis(sources, code, link_id, &archived, &stored, err) < 0)
		return -1;
	/* The code may now belong to another link, not to the one with the
	 * number. */
	if (!code && stored.link.link_id != link_id)
		stored.link = (struct named_link){0};
	if (!archived.link.link_id && !stored.link.link_id) {
		*err = why;
		return -1;
	}
	/* If both sources have the link, Redis has the newest state. */
	if (stored.link.link_id >= archived.link.link_id)
		*ret = stored.link;
	else
		take_archived(&archived, &stored, ret);
	ret->redis_asked = sources->config->links.spaces.count > 0;
	return 0;
}
