#include "tests/unit/unit.h"

#include <string.h>

#include "common/clock.h"
#include "common/url_digest.h"
#include "redirector/lookup/link_lines.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/visit/cache_entry.h"
#include "schemas/click.pb-c.h"

static char ten_days[] = "10d", *classes[] = {ten_days};
static char secret[] = "0123456789abcdef", s7[] = "s7", sequence[] = "sequence";
static struct links_key_config key = {.version = 0, .key = secret};
static struct links_space_config space = {.name = s7,
					  .number = 1,
					  .length = 7,
					  .strategy = sequence,
					  .block_size = 1000,
					  .keys = {&key, 1}};
static const struct links_config config = {
	.ttl_classes = {classes, 1},
	.grant_blocks = 1,
	.spaces = {&space, 1},
};

#define ASKED 1000
#define NOW   1005
#define TTL   10000
#define BRIEF 100
#define STALE 60000

struct world {
	struct linkstore *store;
	struct cache_entry_builder d;
	struct link_target target;
	Shortloop__Link link;
	struct link_answer answer;
};

static char url[] = "https://a.example/", ios_url[] = "https://ios.example/",
	    wechat_url[] = "https://wx.example/", owner[] = "ann";

static int set_up(void **state)
{
	struct error err = {0};
	struct world *w = calloc(1, sizeof(*w));

	*state = w;
	if (!w)
		return -1;
	w->store = linkstore_new(&config, &err);
	if (!w->store)
		return -1;
	w->d.store = w->store;
	w->d.times = (struct cache_entry_times){TTL, BRIEF, STALE};
	w->target.space = linkstore_space(w->store, 0);
	strcpy(w->target.code, "abcdefg");
	shortloop__link__init(&w->link);
	w->link.link_id = 77;
	w->link.url = url;
	w->link.owner = owner;
	w->answer = (struct link_answer){.outcome = LINK_OUTCOME_REDIRECT,
					 .link = &w->link,
					 .ttl_left = DURATION_NEVER};
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	cache_entry_builder_release(&w->d);
	linkstore_free(w->store);
	free(w);
	return 0;
}

static struct cached_link build_cached_link(struct world *w)
{
	struct cached_link out;
	struct error err = {0};

	if (cache_entry_build(&w->d, &w->target, &w->answer, ASKED, NOW, &out,
			      &err) < 0)
		fail_msg("%s", err.text);
	return out;
}

static uint64_t link_id_in(const struct cached_link *link)
{
	Shortloop__Click *click = shortloop__click__unpack(
		NULL, link->event.len, (const uint8_t *)link->event.data);
	uint64_t id;

	assert_non_null(click);
	id = click->link_id;
	shortloop__click__free_unpacked(click, NULL);
	return id;
}

static void lines_are(const struct cached_link *link, int device,
		      const char *want)
{
	uint32_t from = device ? link->line_ends[device - 1] : 0;

	assert_int_equal(link->line_ends[device] - from, strlen(want));
	assert_memory_equal(link->lines.data + from, want, strlen(want));
}

#define PLAIN "Location: https://a.example/\r\n"
#define VARY  "Vary: User-Agent\r\n"
#define EVERY "Cache-Control: private, max-age=0\r\n"

static void a_plain_link_has_one_set_of_lines(void **state)
{
	struct cached_link link = build_cached_link(*state);

	lines_are(&link, 0, PLAIN EVERY);
	assert_int_equal(link.lines.len, link.line_ends[0]);
	assert_int_equal(link.status, 302);
	assert_int_equal(link.max_visits, 0);
	assert_int_equal(link_id_in(&link), 77);
	assert_int_equal(link.fresh_until, ASKED + TTL);
	assert_int_equal(link.stale_until, ASKED + STALE);
}

static void digest_is_of(const struct cached_link *link,
			 Shortloop__Device device, const char *of)
{
	unsigned char digest[URL_DIGEST_SIZE];
	struct http_slice found = link_lines_url_digest(link, device);

	url_digest(of, strlen(of), digest);
	assert_int_equal(found.len, sizeof(digest));
	assert_memory_equal(found.data, digest, sizeof(digest));
}

static void a_plain_link_has_the_digest_of_its_url(void **state)
{
	struct cached_link link = build_cached_link(*state);

	digest_is_of(&link, SHORTLOOP__DEVICE__DEVICE_ANY, url);
	assert_int_equal(link.url_digests.len, URL_DIGEST_SIZE);
	assert_int_equal(
		link_lines_url_digest(&link, SHORTLOOP__DEVICE__DEVICE_IOS).len,
		0);
}

static void each_target_has_lines_of_its_own(void **state)
{
	struct world *w = *state;
	Shortloop__Target ios, wechat, *targets[] = {&wechat, &ios};
	struct cached_link link;

	shortloop__target__init(&ios);
	shortloop__target__init(&wechat);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = ios_url;
	wechat.device = SHORTLOOP__DEVICE__DEVICE_WECHAT;
	wechat.url = wechat_url;
	w->link.targets = targets;
	w->link.n_targets = 2;
	link = build_cached_link(w);
	digest_is_of(&link, SHORTLOOP__DEVICE__DEVICE_ANY, url);
	digest_is_of(&link, SHORTLOOP__DEVICE__DEVICE_IOS, ios_url);
	digest_is_of(&link, SHORTLOOP__DEVICE__DEVICE_WECHAT, wechat_url);
	lines_are(&link, 0, PLAIN VARY EVERY);
	lines_are(&link, 1, "Location: https://ios.example/\r\n" VARY EVERY);
	lines_are(&link, 2, "");
	lines_are(&link, 3, "Location: https://wx.example/\r\n" VARY EVERY);
}

static void a_target_that_is_a_page_has_its_urls(void **state)
{
	static const char urls[] = "myapp://x\0https://ios.example/";
	static char app[] = "myapp://x", program[] = "weixin://dl/business";
	struct world *w = *state;
	Shortloop__Target ios, wechat, *targets[] = {&wechat, &ios};
	struct cached_link link;

	shortloop__target__init(&ios);
	shortloop__target__init(&wechat);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = ios_url;
	ios.app = app;
	wechat.device = SHORTLOOP__DEVICE__DEVICE_WECHAT;
	wechat.url = wechat_url;
	wechat.mini_program = program;
	w->link.targets = targets;
	w->link.n_targets = 2;
	link = build_cached_link(w);
	lines_are(&link, 0, PLAIN VARY EVERY);
	assert_int_equal(link.landings[0], LANDING_NONE);
	assert_int_equal(link.landings[1], LANDING_APP);
	assert_int_equal(link.landings[2], LANDING_NONE);
	assert_int_equal(link.landings[3], LANDING_MINI_PROGRAM);
	assert_int_equal(link.line_ends[1] - link.line_ends[0], sizeof(urls));
	assert_memory_equal(link.lines.data + link.line_ends[0], urls,
			    sizeof(urls));
	lines_are(&link, 2, "");
}

static void a_link_before_its_time_is_not_there(void **state)
{
	struct world *w = *state;
	struct cached_link link;

	w->answer.begins_in = 3600000;
	link = build_cached_link(w);
	assert_int_equal(link.outcome, LINK_OUTCOME_UNKNOWN);
	assert_int_equal(link_id_in(&link), 0);
	assert_int_equal(link.lines.len, 0);
	assert_string_equal(link.domain, "");
	assert_int_equal(link.fresh_until, ASKED + BRIEF);
	assert_int_equal(link.stale_until, link.fresh_until);
}

static void its_absence_is_not_kept_beyond_its_time(void **state)
{
	struct world *w = *state;
	struct cached_link link;

	w->d.times.negative_ttl = 60000;
	w->answer.begins_in = 20000;
	link = build_cached_link(w);
	assert_int_equal(link.fresh_until, NOW + 20000);
	w->answer.begins_in = INT64_MAX / 2;
	link = build_cached_link(w);
	assert_int_equal(link.fresh_until, ASKED + 60000);
}

/* Only Redis' clock decides whether the link's time has come. */
static void once_its_time_has_come_it_redirects(void **state)
{
	struct world *w = *state;
	struct cached_link link;

	w->link.not_before_ms = UINT64_MAX;
	link = build_cached_link(w);
	assert_int_equal(link.outcome, LINK_OUTCOME_REDIRECT);
}

static void a_blocked_link_is_blocked_before_its_time(void **state)
{
	struct world *w = *state;
	struct cached_link link;

	w->answer.outcome = LINK_OUTCOME_BLOCKED;
	w->link.not_before_ms = UINT64_MAX;
	link = build_cached_link(w);
	assert_int_equal(link.outcome, LINK_OUTCOME_BLOCKED);
}

static void numbered_visits_are_never_kept(void **state)
{
	struct world *w = *state;
	struct cached_link link;

	w->link.max_visits = 5;
	w->link.redirect_status = 301;
	link = build_cached_link(w);
	lines_are(&link, 0, PLAIN "Cache-Control: no-store\r\n");
	assert_int_equal(link.max_visits, 5);
	assert_int_equal(link.link_id, 77);
}

static void a_bad_target_is_an_error(void **state)
{
	struct world *w = *state;
	char bad[] = "https://a.example/\r\nX: y";
	Shortloop__Target ios, *targets[] = {&ios};
	struct cached_link link;
	struct error err = {0};

	shortloop__target__init(&ios);
	ios.device = SHORTLOOP__DEVICE__DEVICE_IOS;
	ios.url = bad;
	w->link.targets = targets;
	w->link.n_targets = 1;
	assert_int_equal(cache_entry_build(&w->d, &w->target, &w->answer, ASKED,
					   NOW, &link, &err),
			 -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	assert_non_null(strstr(err.text, "abcdefg"));
}

/* A damaged record must not cause an overflow in computations. */
static void a_life_that_no_class_has_is_not_renewed(void **state)
{
	static const uint64_t lives[] = {INT64_MAX - 1, INT64_MAX, UINT64_MAX};
	struct world *w = *state;

	w->answer.ttl_left = 5000;
	for (size_t i = 0; i < 3; i++) {
		w->link.ttl_ms = lives[i];
		assert_int_equal(build_cached_link(w).fresh_until,
				 ASKED + 5000);
		assert_int_equal(cache_entry_renew_interval(w->store, &w->link),
				 INT64_MAX);
	}
}

#define WITH_WORLD(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORLD(a_plain_link_has_one_set_of_lines),
		WITH_WORLD(a_plain_link_has_the_digest_of_its_url),
		WITH_WORLD(each_target_has_lines_of_its_own),
		WITH_WORLD(a_target_that_is_a_page_has_its_urls),
		WITH_WORLD(a_link_before_its_time_is_not_there),
		WITH_WORLD(its_absence_is_not_kept_beyond_its_time),
		WITH_WORLD(once_its_time_has_come_it_redirects),
		WITH_WORLD(a_blocked_link_is_blocked_before_its_time),
		WITH_WORLD(numbered_visits_are_never_kept),
		WITH_WORLD(a_bad_target_is_an_error),
		WITH_WORLD(a_life_that_no_class_has_is_not_renewed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
