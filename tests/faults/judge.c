/*
 * Reads the issuers' logs and looks up every code in them.
 *
 * usage: judge CONFIG LOG...
 *
 * Prints: issued N held N twice N again N live N overwritten N lost N ended N
 *	issued		codes answered
 *	held		the longest time that a block was issued from (ms)
 *	twice		codes answered before to another, whose link's life had
 *			not ended yet
 *	again		codes answered before to another, whose link's life had
 *			ended
 * and of the last answer of each code
 *	live		Redis has the link as it was answered
 *	overwritten	Redis has another link
 *	lost		Redis has no link
 *	ended		the link's life is over (no look-up)
 */
#include "tests/faults/faults.h"

#include <inttypes.h>
#include <string.h>

#include "codespace/link_id.h"
#include "common/clock.h"
#include "linkstore/command.h"
#include "linkstore/space/space_record.h"
#include "linkstore/target.h"
#include "schemas/link.pb-c.h"

enum {
	PIPELINE = 1000,
	SHOWN = 10, /* at most this many errors are printed */
};

struct judge {
	struct faults faults;
	struct redis *redis;
	struct issued *all;
	size_t count, room;
	int64_t held;
	uint64_t twice, again, live, overwritten, lost, ended;
};

/* --- the logs ------------------------------------------------------------- */

static int add_issued(struct judge *j, const struct issued *one,
		      struct error *err)
{
	struct issued *more;

	if (j->count == j->room) {
		j->room = j->room ? 2 * j->room : 1 << 16;
		more = realloc(j->all, j->room * sizeof(*more));
		if (!more)
			return error_set_nomem(err);
		j->all = more;
	}
	j->all[j->count++] = *one;
	return 0;
}

/* A killed issuer may have left a part of its last entry. */
static int read_log(struct judge *j, const char *path, struct error *err)
{
	FILE *in = fopen(path, "rb");
	struct issued one;
	int status = 0;

	if (!in)
		return error_set_errno(err, "%s", path);
	while (status == 0 && fread(&one, sizeof(one), 1, in) == 1)
		status = add_issued(j, &one, err);
	fclose(in);
	return status;
}

/* --- codes answered twice ------------------------------------------------- */

static bool same_code(const struct issued *a, const struct issued *b)
{
	return !strcmp(a->code, b->code);
}

static int by_code_and_time(const void *a, const void *b)
{
	const struct issued *x = a, *y = b;
	int order = strcmp(x->code, y->code);

	if (order)
		return order;
	return (x->created > y->created) - (x->created < y->created);
}

static void classify_repeated_code(struct judge *j, const struct issued *before,
				   const struct issued *one)
{
	if (one->created >= before->expires &&
	    one->link_id != before->link_id) {
		j->again++;
		return;
	}
	if (j->twice++ < SHOWN)
		fprintf(stderr,
			"%s twice: as %016" PRIx64 " with link_id %016" PRIx64
			", then %" PRId64 " ms later as %016" PRIx64
			" with %016" PRIx64 "\n",
			one->code, before->unique, before->link_id,
			one->created - before->created, one->unique,
			one->link_id);
}

static void count_twice(struct judge *j)
{
	qsort(j->all, j->count, sizeof(*j->all), by_code_and_time);
	for (size_t i = 1; i < j->count; i++)
		if (same_code(&j->all[i - 1], &j->all[i]))
			classify_repeated_code(j, &j->all[i - 1], &j->all[i]);
}

/* --- time of holds ---------------------------------------------------------
 */

static int by_link_id(const void *a, const void *b)
{
	const struct issued *x = a, *y = b;

	return (x->link_id > y->link_id) - (x->link_id < y->link_id);
}

static bool same_block(const struct judge *j, const struct issued *a,
		       const struct issued *b)
{
	struct link_id_parts x = link_id_unpack(a->link_id);
	struct link_id_parts y = link_id_unpack(b->link_id);
	uint32_t size = j->faults.space->block_size;

	return x.generation == y.generation && x.id / size == y.id / size;
}

/* The codes of a block are issued in the order of their ids. */
static void measure_hold(struct judge *j)
{
	size_t first = 0;

	qsort(j->all, j->count, sizeof(*j->all), by_link_id);
	for (size_t i = 0; i < j->count; i++) {
		if (!same_block(j, &j->all[first], &j->all[i]))
			first = i;
		if (j->all[i].created - j->all[first].created > j->held)
			j->held = j->all[i].created - j->all[first].created;
	}
}

/* --- links in Redis ------------------------------------------------------- */

/* Looks the code up as a visit does. */
static int request_link(struct judge *j, const struct issued *one,
			struct error *err)
{
	struct link_target target;
	struct command c;

	if (!linkstore_locate(j->faults.store, one->code, strlen(one->code),
			      &target))
		return error_set(err, ERROR_INPUT, "%s leads nowhere",
				 one->code);
	if (target.id != link_id_unpack(one->link_id).id)
		return error_set(err, ERROR_INPUT, "%s is not its link_id's",
				 one->code);
	command_plain(&c, "GET");
	command_target_key(&c, &target);
	return command_append(&c, j->redis, err);
}

static bool is_theirs(const redisReply *reply, const struct issued *one)
{
	Shortloop__Link *link = shortloop__link__unpack(
		NULL, reply->len, (const uint8_t *)reply->str);
	bool theirs = false;
	char url[64];

	if (!link)
		return false;
	snprintf(url, sizeof(url), FAULTS_URL, (unsigned long long)one->unique);
	theirs = link->link_id == one->link_id && !strcmp(link->url, url);
	shortloop__link__free_unpacked(link, NULL);
	return theirs;
}

static int check_link_reply(struct judge *j, const struct issued *one,
			    struct error *err)
{
	redisReply *reply;

	if (redis_take_reply(j->redis, &reply, err))
		return -1;
	if (reply->type == REDIS_REPLY_STRING && is_theirs(reply, one))
		j->live++;
	else if (one->expires <= clock_real_ms())
		j->ended++; /* since the query began */
	else if (reply->type == REDIS_REPLY_NIL)
		j->lost++;
	else if (j->overwritten++ < SHOWN)
		fprintf(stderr, "%s has another link than was answered\n",
			one->code);
	freeReplyObject(reply);
	return 0;
}

static int ask_all(struct judge *j, size_t from, size_t to, struct error *err)
{
	for (size_t i = from; i < to; i++)
		if (request_link(j, &j->all[i], err))
			return -1;
	for (size_t i = from; i < to; i++)
		if (check_link_reply(j, &j->all[i], err))
			return -1;
	return 0;
}

/* Keeps the last answer of each code if its life has not ended. */
static void keep_last(struct judge *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->count; i++) {
		if (i + 1 < j->count && same_code(&j->all[i], &j->all[i + 1]))
			continue;
		if (j->all[i].expires > clock_real_ms())
			j->all[kept++] = j->all[i];
		else
			j->ended++;
	}
	j->count = kept;
}

/* --- main ----------------------------------------------------------------- */

static int judge_all(struct judge *j, struct error *err)
{
	size_t to, issued = j->count;

	measure_hold(j);
	count_twice(j);
	keep_last(j);
	for (size_t from = 0; from < j->count; from = to) {
		to = from + PIPELINE < j->count ? from + PIPELINE : j->count;
		if (ask_all(j, from, to, err))
			return -1;
	}
	printf("issued %zu held %" PRId64 " twice %" PRIu64 " again %" PRIu64
	       " live %" PRIu64 " overwritten %" PRIu64 " lost %" PRIu64
	       " ended %" PRIu64 "\n",
	       issued, j->held, j->twice, j->again, j->live, j->overwritten,
	       j->lost, j->ended);
	return 0;
}

static int judge_open(struct judge *j, int argc, char **argv, struct error *err)
{
	if (faults_open(&j->faults, argv[1], err))
		return -1;
	for (int i = 2; i < argc; i++)
		if (read_log(j, argv[i], err))
			return -1;
	j->redis = redis_new(&j->faults.config.redis,
			     linkstore_scripts(j->faults.store), err);
	if (!j->redis)
		return -1;
	return space_check(j->redis, j->faults.space, SPACE_TO_READ, err);
}

int main(int argc, char **argv)
{
	struct judge j = {0};
	struct error err = {0};
	int status = 1;

	if (argc < 3) {
		fprintf(stderr, "usage: judge CONFIG LOG...\n");
		return 64;
	}
	if (judge_open(&j, argc, argv, &err) || judge_all(&j, &err))
		fprintf(stderr, "judge: %s\n", err.text);
	else
		status = 0;
	free(j.all);
	redis_free(j.redis);
	faults_close(&j.faults);
	return status;
}
