#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/cache.h"

static struct cache *make_cache(size_t bytes)
{
	struct error err = {0};
	struct cache *c = cache_new(bytes, &err);

	assert_non_null(c);
	return c;
}

static const void *get_value(struct cache *c, const char *key)
{
	size_t len;

	return cache_get(c, key, strlen(key), &len);
}

static void what_was_put_is_got(void **state)
{
	struct cache *c = make_cache(4096);
	size_t len = 0;

	(void)state;
	cache_put(c, "key", 3, "value", 5);
	assert_memory_equal(cache_get(c, "key", 3, &len), "value", 5);
	assert_int_equal(len, 5);
	assert_null(get_value(c, "ke"));
	assert_null(get_value(c, "key2"));
	cache_free(c);
}

static void empty_keys_and_values_are_keys_and_values(void **state)
{
	struct cache *c = make_cache(4096);
	size_t len = 9;

	(void)state;
	cache_put(c, NULL, 0, NULL, 0);
	assert_non_null(cache_get(c, NULL, 0, &len));
	assert_int_equal(len, 0);
	cache_free(c);
}

static void it_never_outgrows_its_bound(void **state)
{
	struct cache *c = make_cache(10000);
	char key[16];

	(void)state;
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		cache_put(c, key, strlen(key), key, (size_t)(i % 9));
		assert_true(cache_stats(c).bytes <= 10000);
	}
	assert_true(cache_stats(c).entries > 50);
	assert_non_null(get_value(c, "k4999"));
	assert_null(get_value(c, "k0"));
	cache_free(c);
}

static void what_is_used_stays(void **state)
{
	struct cache *c = make_cache(10000);
	char key[16];

	(void)state;
	cache_put(c, "hot", 3, "x", 1);
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		cache_put(c, key, strlen(key), NULL, 0);
		assert_non_null(get_value(c, "hot"));
	}
	cache_free(c);
}

static void all_of_many_entries_are_found(void **state)
{
	struct cache *c = make_cache(10 << 20);
	char key[16];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		cache_put(c, key, strlen(key), &i, sizeof(i));
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_memory_equal(get_value(c, key), &i, sizeof(i));
	}
	cache_free(c);
}

static void a_value_larger_than_the_cache_is_not_kept(void **state)
{
	struct cache *c = make_cache(1000);
	char large[2000] = {0};

	(void)state;
	assert_null(cache_put(c, "a", 1, large, sizeof(large)));
	assert_int_equal(cache_stats(c).entries, 0);
	cache_free(c);
}

static void hits_and_misses_are_counted(void **state)
{
	struct cache *c = make_cache(1000);

	(void)state;
	get_value(c, "a");
	cache_put(c, "a", 1, NULL, 0);
	get_value(c, "a");
	get_value(c, "a");
	assert_int_equal(cache_stats(c).hits, 2);
	assert_int_equal(cache_stats(c).misses, 1);
	cache_clear(c);
	assert_null(get_value(c, "a"));
	cache_free(c);
}

/* Returns the size of a cache with one entry of these lengths. */
static size_t bytes_of(size_t key_len, size_t value_len)
{
	struct cache *c = make_cache(1 << 20);
	char bytes[200] = {0};
	size_t size;

	assert_non_null(cache_put(c, bytes, key_len, bytes, value_len));
	size = (size_t)cache_stats(c).bytes;
	cache_free(c);
	return size;
}

static void keys_and_values_count_with_each_byte(void **state)
{
	(void)state;
	assert_true(bytes_of(0, 0) > 2 * sizeof(void *));
	assert_int_equal(bytes_of(100, 0), bytes_of(0, 0) + 100);
	assert_int_equal(bytes_of(0, 100), bytes_of(0, 0) + 100);
}

static void it_is_filled_to_its_bound(void **state)
{
	size_t one = bytes_of(1, 100);
	struct cache *c = make_cache(one - 1);
	char value[100] = {0};

	(void)state;
	assert_null(cache_put(c, "a", 1, value, 100));
	cache_free(c);
	c = make_cache(one);
	assert_non_null(cache_put(c, "a", 1, value, 100));
	cache_free(c);
	c = make_cache(2 * one);
	cache_put(c, "a", 1, value, 100);
	cache_put(c, "b", 1, value, 100);
	assert_int_equal(cache_stats(c).entries, 2);
	cache_free(c);
	c = make_cache(2 * one - 1);
	cache_put(c, "a", 1, value, 100);
	cache_put(c, "b", 1, value, 100);
	assert_int_equal(cache_stats(c).entries, 1);
	assert_null(get_value(c, "a"));
	assert_non_null(get_value(c, "b"));
	cache_free(c);
}

static void one_that_was_cleared_is_as_new(void **state)
{
	struct cache *c = make_cache(10000);
	char key[16];

	(void)state;
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < 20; i++) {
			snprintf(key, sizeof(key), "k%d", i);
			cache_put(c, key, strlen(key), NULL, 0);
		}
		assert_int_equal(cache_stats(c).entries, 20);
		cache_clear(c);
		assert_int_equal(cache_stats(c).entries, 0);
		assert_int_equal(cache_stats(c).bytes, 0);
		assert_null(get_value(c, "k7"));
	}
	cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_got),
		cmocka_unit_test(empty_keys_and_values_are_keys_and_values),
		cmocka_unit_test(it_never_outgrows_its_bound),
		cmocka_unit_test(what_is_used_stays),
		cmocka_unit_test(all_of_many_entries_are_found),
		cmocka_unit_test(a_value_larger_than_the_cache_is_not_kept),
		cmocka_unit_test(hits_and_misses_are_counted),
		cmocka_unit_test(keys_and_values_count_with_each_byte),
		cmocka_unit_test(it_is_filled_to_its_bound),
		cmocka_unit_test(one_that_was_cleared_is_as_new),
	};

	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
