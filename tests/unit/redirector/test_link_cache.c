#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redirector/lookup/link_cache.h"

#define CACHE_BYTES (64 * 1024)

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void is_text(struct http_slice got, const char *want)
{
	assert_int_equal(got.len, strlen(want));
	assert_memory_equal(got.data, want, got.len);
}

static struct link_cache *cache_of(size_t bytes)
{
	struct error err;
	struct link_cache *cache = link_cache_new(bytes, &err);

	assert_non_null(cache);
	return cache;
}

static void put_link(struct link_cache *cache, const char *code,
		     const char *url, int64_t fresh_until, int64_t stale_until)
{
	struct cached_link link = {
		.status = 302,
		.fresh_until = fresh_until,
		.stale_until = stale_until,
		.lines = slice_of(url),
		.domain = "s.example",
		.event = slice_of("event"),
	};

	link_cache_put(cache, slice_of(code), &link);
}

static void what_was_put_is_found(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	char url[] = "https://example.org/";
	const struct cached_link *link;

	(void)state;
	put_link(cache, "abc", url, 100, 100);
	memset(url, 'x', sizeof(url)); /* the cache has copied it */
	link = link_cache_get(cache, slice_of("abc"), 0);
	assert_non_null(link);
	is_text(link->lines, "https://example.org/");
	assert_string_equal(link->domain, "s.example");
	is_text(link->event, "event");
	assert_null(link_cache_get(cache, slice_of("ab"), 0));
	assert_null(link_cache_get(cache, slice_of("abcd"), 0));
	assert_null(link_cache_get(cache, slice_of(""), 0));
	link_cache_free(cache);
}

static void what_is_removed_is_gone_and_nothing_else(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	size_t empty = link_cache_stats(cache).bytes;

	(void)state;
	put_link(cache, "abc", "https://example.org/", 100, 100);
	put_link(cache, "abcd", "https://example.org/", 100, 100);
	link_cache_remove(cache, slice_of("abc"));
	link_cache_remove(cache, slice_of("ab"));
	assert_null(link_cache_get(cache, slice_of("abc"), 0));
	assert_non_null(link_cache_get(cache, slice_of("abcd"), 0));
	assert_int_equal(link_cache_stats(cache).entries, 1);
	link_cache_remove(cache, slice_of("abcd"));
	assert_int_equal(link_cache_stats(cache).bytes, empty);
	link_cache_free(cache);
}

static void a_copy_stands_alone(void **state)
{
	char url[] = "https://example.org/", domain[] = "s.example";
	struct cached_link link = {.status = 302,
				   .lines = slice_of(url),
				   .line_ends = {5, 5, 9, 20},
				   .domain = domain,
				   .event = slice_of("event"),
				   .url_digests = slice_of("digests"),
				   .max_visits = 3,
				   .link_id = 7};
	struct cached_link *copy = cached_link_copy(&link);

	(void)state;
	assert_non_null(copy);
	memset(url, 'x', sizeof(url));
	memset(domain, 'x', sizeof(domain));
	is_text(copy->lines, "https://example.org/");
	assert_string_equal(copy->domain, "s.example");
	is_text(copy->event, "event");
	is_text(copy->url_digests, "digests");
	assert_int_equal(copy->line_ends[2], 9);
	assert_int_equal(copy->max_visits, 3);
	free(copy);
}

static void a_new_entry_takes_the_place_of_the_old(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	size_t bytes;

	(void)state;
	put_link(cache, "abc", "https://example.org/1", 100, 100);
	bytes = link_cache_stats(cache).bytes;
	put_link(cache, "abc", "https://example.org/2", 100, 100);
	is_text(link_cache_get(cache, slice_of("abc"), 0)->lines,
		"https://example.org/2");
	assert_int_equal(link_cache_stats(cache).entries, 1);
	assert_int_equal(link_cache_stats(cache).bytes, bytes);
	link_cache_free(cache);
}

static void an_entry_is_handed_out_until_it_cannot_stand_in(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);

	(void)state;
	put_link(cache, "abc", "u", 100, 200);
	assert_non_null(link_cache_get(cache, slice_of("abc"), 199));
	assert_null(link_cache_get(cache, slice_of("abc"), 200));
	assert_int_equal(link_cache_stats(cache).entries, 0);
	link_cache_free(cache);
}

static void it_never_grows_beyond_its_bytes(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	char code[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(code, sizeof(code), "%d", i);
		put_link(cache, code, "https://example.org/some/path", 100,
			 100);
		assert_true(link_cache_stats(cache).bytes <= CACHE_BYTES);
	}
	assert_true(link_cache_stats(cache).entries > 50);
	assert_true(link_cache_stats(cache).evictions > 4000);
	link_cache_free(cache);
}

static void what_is_visited_outlives_what_is_not(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	char code[16];

	(void)state;
	put_link(cache, "hot", "u", 100, 100);
	for (int i = 0; i < 5000; i++) {
		snprintf(code, sizeof(code), "%d", i);
		put_link(cache, code, "u", 100, 100);
		assert_non_null(link_cache_get(cache, slice_of("hot"), 0));
	}
	link_cache_free(cache);
}

/* One of every ten codes is visited again and again, and is moved again and
 * again by entries of all sizes. */
static void what_moves_stays_whole(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	char code[32], url[600];

	(void)state;
	memset(url, 'u', sizeof(url));
	for (int i = 0; i < 200; i++) {
		for (int hot = 0; hot < 20; hot++) {
			const struct cached_link *link;

			snprintf(code, sizeof(code), "hot%d", hot);
			link = link_cache_get(cache, slice_of(code), 0);
			assert_true(link || i == 0);
			if (!link) {
				put_link(cache, code, code, 100, 100);
				continue;
			}
			is_text(link->lines, code);
			is_text(link->event, "event");
			assert_string_equal(link->domain, "s.example");
		}
		for (int cold = 0; cold < 20; cold++) {
			snprintf(code, sizeof(code), "%d,%d", i, cold);
			url[(i * 20 + cold) % 599] = '\0';
			put_link(cache, code, url, 100, 100);
			url[(i * 20 + cold) % 599] = 'u';
		}
	}
	assert_true(link_cache_stats(cache).evictions > 3000);
	link_cache_free(cache);
}

static void removed_entries_make_room_and_are_no_evictions(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	size_t empty = link_cache_stats(cache).bytes;
	char code[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(code, sizeof(code), "%d", i);
		put_link(cache, code, "u", 100, 100);
		link_cache_remove(cache, slice_of(code));
		assert_int_equal(link_cache_stats(cache).bytes, empty);
	}
	assert_int_equal(link_cache_stats(cache).evictions, 0);
	link_cache_free(cache);
}

static void an_entry_that_is_asked_for_again_takes_no_more_room(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);

	(void)state;
	put_link(cache, "other", "u", 100, 100);
	for (int i = 0; i < 5000; i++)
		put_link(cache, "abc", i % 2 ? "a" : "b", 100, 100);
	assert_non_null(link_cache_get(cache, slice_of("other"), 0));
	is_text(link_cache_get(cache, slice_of("abc"), 0)->lines, "a");
	link_cache_free(cache);
}

/* With short codes and no texts, the table is full first. */
static void a_full_table_lets_go_of_entries_too(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	struct cached_link link = {.domain = "", .fresh_until = 100};
	char code[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(code, sizeof(code), "%d", i);
		link_cache_put(cache, slice_of(code), &link);
		assert_non_null(link_cache_get(cache, slice_of(code), 0));
	}
	assert_true(link_cache_stats(cache).entries < 5000);
	link_cache_free(cache);
}

static void what_is_too_large_is_not_kept(void **state)
{
	struct link_cache *cache = cache_of(CACHE_BYTES);
	char *url = calloc(1, CACHE_BYTES);

	(void)state;
	memset(url, 'u', CACHE_BYTES - 1);
	put_link(cache, "abc", "small", 100, 100);
	put_link(cache, "abc", url, 100, 100);
	assert_null(link_cache_get(cache, slice_of("abc"), 0));
	assert_int_equal(link_cache_stats(cache).entries, 0);
	url[CACHE_BYTES / 7] = '\0';
	put_link(cache, "abc", url, 100, 100);
	assert_null(link_cache_get(cache, slice_of("abc"), 0));
	url[CACHE_BYTES / 10] = '\0';
	put_link(cache, "abc", url, 100, 100);
	assert_non_null(link_cache_get(cache, slice_of("abc"), 0));
	free(url);
	link_cache_free(cache);
}

static void a_cache_of_no_bytes_keeps_nothing(void **state)
{
	struct link_cache *cache = cache_of(0);

	(void)state;
	put_link(cache, "abc", "u", 100, 100);
	assert_null(link_cache_get(cache, slice_of("abc"), 0));
	link_cache_free(cache);
}

/* Compares puts and expiries in random order with a plain array. */
static void it_agrees_with_a_plain_table(void **state)
{
	struct link_cache *cache = cache_of(1024 * 1024);
	int64_t until[1000] = {0};
	char code[16];
	unsigned seed = 1;

	(void)state;
	for (int64_t now = 1; now < 20000; now++) {
		int i = rand_r(&seed) % 1000;
		const struct cached_link *link;

		snprintf(code, sizeof(code), "c%d", i);
		link = link_cache_get(cache, slice_of(code), now);
		assert_true(!!link == (until[i] > now));
		if (link)
			is_text(link->lines, code);
		until[i] = now + rand_r(&seed) % 1000;
		put_link(cache, code, code, until[i], until[i]);
	}
	link_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(what_is_removed_is_gone_and_nothing_else),
		cmocka_unit_test(a_copy_stands_alone),
		cmocka_unit_test(a_new_entry_takes_the_place_of_the_old),
		cmocka_unit_test(
			an_entry_is_handed_out_until_it_cannot_stand_in),
		cmocka_unit_test(it_never_grows_beyond_its_bytes),
		cmocka_unit_test(what_is_visited_outlives_what_is_not),
		cmocka_unit_test(what_moves_stays_whole),
		cmocka_unit_test(
			removed_entries_make_room_and_are_no_evictions),
		cmocka_unit_test(
			an_entry_that_is_asked_for_again_takes_no_more_room),
		cmocka_unit_test(a_full_table_lets_go_of_entries_too),
		cmocka_unit_test(what_is_too_large_is_not_kept),
		cmocka_unit_test(a_cache_of_no_bytes_keeps_nothing),
		cmocka_unit_test(it_agrees_with_a_plain_table),
	};

	return cmocka_run_group_tests_name("link_cache", tests, NULL, NULL);
}
