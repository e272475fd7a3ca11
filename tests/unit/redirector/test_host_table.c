/* Domains that are reloaded while threads use them. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "redirector/visit/host_table.h"

#define READERS 3

static char secret[] = "0123456789abcdef", s7[] = "s7", ten_days[] = "10d",
	    sequence[] = "sequence", *classes[] = {ten_days},
	    serve_default[] = "default";
static struct links_key_config key = {.version = 0, .key = secret};
static struct links_space_config space = {.name = s7,
					  .number = 1,
					  .length = 7,
					  .strategy = sequence,
					  .block_size = 1000,
					  .keys = {&key, 1}};

struct world {
	struct redirector_config config;
	struct linkstore *store;
	struct host_table *table;
	char path[64];
	char app_path[64]; /* a file that the domain can name */
	atomic_bool ended;
};

static void write_file(struct world *w, unsigned number)
{
	FILE *out = fopen(w->path, "w");

	assert_non_null(out);
	fprintf(out,
		"domains: {list: [{name: a, hosts: [a.a], fallback_url: "
		"\"https://a.a/%u\"}]}\n",
		number);
	fclose(out);
}

static void write_app_file(struct world *w, const char *text)
{
	FILE *out = fopen(w->app_path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

/* The domain names the file both for Apple and for Android. */
static void write_domain(struct world *w, const char *name)
{
	FILE *out = fopen(w->path, "w");

	assert_non_null(out);
	fprintf(out,
		"domains: {list: [{name: %s, hosts: [a.a], "
		"apple_app_site_association: %s, assetlinks: %s}]}\n",
		name, w->app_path, w->app_path);
	fclose(out);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	w->config.links = (struct links_config){.ttl_classes = {classes, 1},
						.grant_blocks = 1,
						.spaces = {&space, 1}};
	w->config.redirector.unknown_hosts = serve_default;
	w->config.domains.file = unit_write_file("", w->path);
	unit_write_file("{\"a\":1}", w->app_path);
	write_file(w, 0);
	w->store = linkstore_new(&w->config.links, &err);
	w->table = host_table_new(&w->config, w->store, &err);
	if (!w->table)
		fail_msg("%s", err.text);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	host_table_free(w->table);
	linkstore_free(w->store);
	unlink(w->path);
	unlink(w->app_path);
	free(w);
	return 0;
}

static const char *fallback_url_of(const struct virtual_hosts *hosts)
{
	return virtual_hosts_find(hosts, (struct http_slice){"a.a", 3})
		->fallback_url;
}

static void write_and_reload_file(struct world *w, unsigned number)
{
	struct error err = {0};
	struct host_reload now = {0};

	write_file(w, number);
	if (host_table_reload(w->table, NULL, &now, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(now.domains, 1);
	assert_int_equal(now.files.count, 0);
}

static void what_was_taken_stays_until_its_user_looks_again(void **state)
{
	struct world *w = *state;
	struct host_user one = {.table = w->table}, other = one;
	const struct virtual_hosts *before = host_table_use(&one);

	write_and_reload_file(w, 1);
	assert_string_equal(fallback_url_of(host_table_use(&other)),
			    "https://a.a/1");
	assert_string_equal(fallback_url_of(before), "https://a.a/0");
	assert_string_equal(fallback_url_of(host_table_use(&one)),
			    "https://a.a/1");
	host_table_leave(&one);
	host_table_leave(&other);
	host_table_leave(&other);
}

static void a_file_with_a_mistake_changes_nothing(void **state)
{
	struct world *w = *state;
	struct host_user user = {.table = w->table};
	const struct virtual_hosts *before = host_table_use(&user);
	struct error err = {0};
	struct host_reload now = {.domains = 7};

	unlink(w->path);
	assert_int_equal(host_table_reload(w->table, NULL, &now, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_int_equal(now.domains, 7);
	assert_ptr_equal(host_table_use(&user), before);
	host_table_leave(&user);
}

/* --- files of domains ----------------------------------------------------- */

static struct host_reload read_again(struct world *w)
{
	struct host_reload now = {0};
	struct error err = {0};

	if (host_table_reload(w->table, NULL, &now, &err) < 0)
		fail_msg("%s", err.text);
	return now;
}

/* The domain serves this file; "": none. */
static void expect_served_file(struct world *w, enum app_file_kind kind,
			       const char *want)
{
	struct host_user user = {.table = w->table};
	const struct virtual_host *vhost = virtual_hosts_find(
		host_table_use(&user), (struct http_slice){"a.a", 3});
	struct http_slice body = {"", 0};

	if (vhost->app_files[kind])
		body = app_file_body(vhost->app_files[kind]);
	assert_int_equal(body.len, strlen(want));
	assert_memory_equal(body.data, want, body.len);
	host_table_leave(&user);
}

static void a_file_is_read_again_with_the_domains(void **state)
{
	struct world *w = *state;

	expect_served_file(w, APP_FILE_APPLE, "");
	write_domain(w, "a");
	/* The file's JSON is valid for one of the two kinds only. */
	assert_int_equal(read_again(w).files.count, 1);
	expect_served_file(w, APP_FILE_APPLE, "{\"a\":1}");
	expect_served_file(w, APP_FILE_ANDROID, "");
	write_app_file(w, "{\"a\":2}");
	read_again(w);
	expect_served_file(w, APP_FILE_APPLE, "{\"a\":2}");
}

static void one_with_a_mistake_leaves_the_one_in_use(void **state)
{
	struct world *w = *state;
	struct host_reload now;
	char why[300];

	write_domain(w, "a");
	read_again(w);
	write_app_file(w, "{\n,");
	now = read_again(w);
	assert_int_equal(now.domains, 1);
	assert_int_equal(now.files.count, 2);
	snprintf(why, sizeof(why),
		 "domains.list: a: apple_app_site_association: %s: not JSON: "
		 "line 2, column 1: string or '}' expected near ','",
		 w->app_path);
	assert_string_equal(now.files.first.text, why);
	expect_served_file(w, APP_FILE_APPLE, "{\"a\":1}");
	/* The same holds for a second reload. */
	assert_int_equal(read_again(w).files.count, 2);
	expect_served_file(w, APP_FILE_APPLE, "{\"a\":1}");
	write_app_file(w, "[]");
	assert_int_equal(read_again(w).files.count, 1);
	expect_served_file(w, APP_FILE_ANDROID, "[]");
	expect_served_file(w, APP_FILE_APPLE, "{\"a\":1}");
}

static void another_domain_has_no_file_of_this_one(void **state)
{
	struct world *w = *state;

	write_domain(w, "a");
	read_again(w);
	write_app_file(w, "");
	write_domain(w, "b");
	assert_int_equal(read_again(w).files.count, 2);
	expect_served_file(w, APP_FILE_APPLE, "");
}

static void one_that_is_not_named_any_more_is_gone(void **state)
{
	struct world *w = *state;

	write_domain(w, "a");
	read_again(w);
	write_and_reload_file(w, 1);
	expect_served_file(w, APP_FILE_APPLE, "");
}

static void at_the_start_a_mistake_is_a_failure(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	struct host_table *other;

	write_domain(w, "a");
	other = host_table_new(&w->config, w->store, &err);
	assert_null(other);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "domains.list: a: assetlinks: "));
	assert_non_null(strstr(err.text, w->app_path));
}

static void *read_on(void *arg)
{
	struct world *w = arg;
	struct host_user user = {.table = w->table};
	unsigned last = 0, seen;

	while (!atomic_load(&w->ended)) {
		const char *url = fallback_url_of(host_table_use(&user));

		seen = (unsigned)strtoul(strrchr(url, '/') + 1, NULL, 10);
		if (seen < last)
			abort(); /* an older version came back */
		last = seen;
	}
	host_table_leave(&user);
	return NULL;
}

static void threads_go_on_while_it_is_read_again(void **state)
{
	struct world *w = *state;
	pthread_t readers[READERS];

	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, w),
				 0);
	for (unsigned number = 1; number <= 50; number++)
		write_and_reload_file(w, number);
	atomic_store(&w->ended, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_taken_stays_until_its_user_looks_again),
		TEST(a_file_with_a_mistake_changes_nothing),
		TEST(a_file_is_read_again_with_the_domains),
		TEST(one_with_a_mistake_leaves_the_one_in_use),
		TEST(another_domain_has_no_file_of_this_one),
		TEST(one_that_is_not_named_any_more_is_gone),
		TEST(at_the_start_a_mistake_is_a_failure),
		TEST(threads_go_on_while_it_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
