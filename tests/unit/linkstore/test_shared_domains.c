/* Domains in Redis: every program takes one revision after the other. */
#include "tests/unit/linkstore/fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "linkstore/shared_domains.h"

static uint64_t store_domains(struct fixture *f, uint64_t over,
			      const char *text)
{
	uint64_t revision = 0;

	must(f, shared_domains_write(f->server.redis, f->store, over, text,
				     &revision, &f->err));
	return revision;
}

static void assert_there(struct fixture *f, uint64_t revision, const char *text)
{
	struct shared_domains d;

	must(f, shared_domains_read(f->server.redis, &d, &f->err));
	assert_int_equal(d.revision, revision);
	assert_string_equal(d.text, text);
	shared_domains_release(&d);
}

static void what_is_stored_is_read_and_later_than_before(void **state)
{
	struct fixture *f = *state;
	uint64_t first, second;

	assert_there(f, 0, "");
	first = store_domains(f, 0, "one");
	assert_there(f, first, "one");
	second = store_domains(f, first, "");
	assert_true(second > first);
	assert_there(f, second, "");
}

static void who_has_not_read_the_last_stores_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t first = store_domains(f, 0, "one"), ignored;

	must_fail(f,
		  shared_domains_write(f->server.redis, f->store, 0, "two",
				       &ignored, &f->err),
		  ERROR_CONFLICT);
	assert_there(f, first, "one");
}

static void what_is_stored_after_redis_forgot_is_the_latest(void **state)
{
	struct fixture *f = *state;
	uint64_t first = store_domains(f, 0, "one");

	redis_server_number(&f->server, "DEL " SHARED_DOMAINS_KEY);
	usleep(2000); /* a revision is a time, in ms */
	assert_true(store_domains(f, 0, "two") > first);
}

/* A clock that goes back does not lower revisions. */
static void a_revision_is_higher_whatever_the_clock_says(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "HSET " SHARED_DOMAINS_KEY
					" revision 99999999999999 text x");
	assert_int_equal(store_domains(f, 99999999999999, "y"),
			 100000000000000);
}

static void a_full_redis_stores_them(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
	store_domains(f, 0, "one");
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 0"));
}

static void what_is_damaged_is_said_to_be(void **state)
{
	static const char *const damage[] = {
		"HSET domains revision x text y",
		"HSET domains revision 0 text y",
		"HSET domains revision 7x text y",
		"HSET domains revision 9007199254740992 text y",
	};
	struct fixture *f = *state;
	struct shared_domains d;

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		freeReplyObject(redis_server_ask(&f->server, damage[i]));
		must_fail(f, shared_domains_read(f->server.redis, &d, &f->err),
			  ERROR_DAMAGED);
	}
}

/* --- programs ------------------------------------------------------------- */

struct taker {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t revision;
	size_t taken, looked;
	char text[64], told[256];
	struct shared_domains_watch *watch;
};

/* Refuses a text that begins with '!'. */
static int on_take(void *arg, const char *text, uint64_t revision,
		   struct error *err)
{
	struct taker *t = arg;

	if (*text == '!')
		return error_set(err, ERROR_CONFIG, "it is bad");
	pthread_mutex_lock(&t->lock);
	t->taken++;
	t->revision = revision;
	snprintf(t->text, sizeof(t->text), "%s", text);
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

static void on_looked(void *arg, const struct error *err)
{
	struct taker *t = arg;

	pthread_mutex_lock(&t->lock);
	t->looked++;
	snprintf(t->told, sizeof(t->told), "%.200s", err ? err->text : "");
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

static void start_taker(struct taker *t, struct fixture *f)
{
	const struct shared_domains_options options = {&f->server.config,
						       on_take, on_looked, t};

	*t = (struct taker){.lock = PTHREAD_MUTEX_INITIALIZER,
			    .changed = PTHREAD_COND_INITIALIZER};
	t->watch = shared_domains_watch_new(&options, &f->err);
	must(f, shared_domains_watch_start(t->watch, &f->err));
}

static void await_revision(struct taker *t, uint64_t revision)
{
	pthread_mutex_lock(&t->lock);
	while (t->revision != revision)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void await_look(struct taker *t, size_t number)
{
	pthread_mutex_lock(&t->lock);
	while (t->looked < number)
		pthread_cond_wait(&t->changed, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void each_revision_is_taken_once(void **state)
{
	struct fixture *f = *state;
	uint64_t first, second;
	struct taker t;

	start_taker(&t, f);
	await_look(&t, 1);
	assert_int_equal(t.taken, 0); /* there are none */
	first = store_domains(f, 0, "one");
	await_revision(&t, first);
	assert_string_equal(t.text, "one");
	second = store_domains(f, first, "two");
	await_revision(&t, second);
	assert_string_equal(t.text, "two");
	assert_int_equal(t.taken, 2);
	assert_int_equal(t.looked, 1);
	assert_string_equal(t.told, "");
	shared_domains_watch_free(t.watch);
}

static void a_redis_that_forgot_takes_nothing_back(void **state)
{
	struct fixture *f = *state;
	uint64_t first = store_domains(f, 0, "one");
	struct taker t;

	start_taker(&t, f);
	await_revision(&t, first);
	await_look(&t, 1);
	redis_server_number(&f->server, "DEL domains");
	await_look(&t, 2);
	assert_non_null(strstr(t.told, "earlier revision"));
	assert_string_equal(t.text, "one");
	await_revision(&t, store_domains(f, 0, "two"));
	await_look(&t, 3);
	assert_string_equal(t.told, "");
	shared_domains_watch_free(t.watch);
}

static void delete_stored_domains(struct fixture *f)
{
	redis_server_number(&f->server, "DEL " SHARED_DOMAINS_KEY);
	usleep(2000); /* a revision is a time, in ms */
}

/* After the refused revision is deleted, the state is as before it. */
static void what_was_refused_is_not_in_use(void **state)
{
	struct fixture *f = *state;
	struct taker t;

	start_taker(&t, f);
	await_look(&t, 1);
	store_domains(f, 0, "!one");
	await_look(&t, 2);
	assert_non_null(strstr(t.told, "was refused, those of the "
				       "configuration stay in use: it is bad"));
	delete_stored_domains(f);
	await_look(&t, 3);
	assert_string_equal(t.told, "");
	assert_int_equal(t.taken, 0);
	await_revision(&t, store_domains(f, 0, "two"));
	shared_domains_watch_free(t.watch);
}

static void one_that_is_refused_hides_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t first = store_domains(f, 0, "one"), second;
	char back[128];
	struct taker t;

	start_taker(&t, f);
	await_revision(&t, first);
	await_look(&t, 1);
	second = store_domains(f, first, "!two");
	await_look(&t, 2);
	assert_non_null(strstr(t.told, "stays in use: it is bad"));
	/* A copy of Redis' data is restored: it has the revision in use. */
	snprintf(back, sizeof(back),
		 "HSET domains revision %" PRIu64 " text one", first);
	redis_server_number(&f->server, back);
	await_look(&t, 3);
	assert_string_equal(t.told, "");
	/* A revision between the two is later than the one in use. */
	snprintf(back, sizeof(back),
		 "HSET domains revision %" PRIu64 " text between", second - 1);
	if (second - 1 > first) {
		redis_server_number(&f->server, back);
		await_revision(&t, second - 1);
		assert_string_equal(t.text, "between");
	}
	delete_stored_domains(f);
	await_look(&t, 4);
	assert_non_null(strstr(t.told, "earlier revision"));
	shared_domains_watch_free(t.watch);
}

static void the_last_is_taken_again_when_asked_for(void **state)
{
	struct fixture *f = *state;
	uint64_t first = store_domains(f, 0, "one");
	struct taker t;

	start_taker(&t, f);
	await_revision(&t, first);
	shared_domains_watch_again(t.watch);
	pthread_mutex_lock(&t.lock);
	while (t.taken < 2)
		pthread_cond_wait(&t.changed, &t.lock);
	pthread_mutex_unlock(&t.lock);
	assert_string_equal(t.text, "one");
	assert_int_equal(t.revision, first);
	shared_domains_watch_free(t.watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_stored_is_read_and_later_than_before),
		TEST(who_has_not_read_the_last_stores_nothing),
		TEST(what_is_stored_after_redis_forgot_is_the_latest),
		TEST(a_revision_is_higher_whatever_the_clock_says),
		TEST(a_full_redis_stores_them),
		TEST(what_is_damaged_is_said_to_be),
		TEST(each_revision_is_taken_once),
		TEST(a_redis_that_forgot_takes_nothing_back),
		TEST(what_was_refused_is_not_in_use),
		TEST(one_that_is_refused_hides_nothing),
		TEST(the_last_is_taken_again_when_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
