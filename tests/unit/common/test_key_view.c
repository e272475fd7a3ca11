/* The members of GET /v1/me that both programs have. */
#include "common/buf.h"
#include "common/clock.h"
#include "common/keys/key_view.h"
#include "tests/unit/common/keys_world.h"

static void assert_view(const struct api_key_info *key, int64_t now,
			const char *expected)
{
	struct buf out = {0};

	key_view_begin(key, now, &out);
	assert_string_equal(buf_cstr(&out), expected);
	buf_free(&out);
}

/* `line` is what follows the digest; `roles` comes before it. */
static void assert_line_view(const char *roles, const char *line,
			     const char *expected)
{
	struct error err = {0};
	struct api_keyring *ring;
	struct api_key_info who;
	char text[512];

	snprintf(text, sizeof(text), "crm %s " SESAME " %s\n", roles, line);
	write_file(text);
	ring = open_ring(&err);
	assert_non_null(ring);
	assert_true(api_keyring_find(ring, "open sesame", 11, &who));
	assert_view(&who, 0, expected);
	api_keyring_free(ring);
}

#define NAMED "{\"name\":\"crm\",\"account\":\"crm\",\"accounts\":"
#define REST  ",\"owners\":null,\"rate\":null"

static void a_key_learns_its_roles_with_those_they_include(void **state)
{
	static const struct {
		const char *roles, *line, *view;
	} all[] = {
		{"read", "", NAMED "null,\"roles\":[\"read\"]" REST},
		{"read-own", "", NAMED "null,\"roles\":[\"read\"]" REST},
		{"create", "", NAMED "null,\"roles\":[\"create\"]" REST},
		{"create,read", "",
		 NAMED "null,\"roles\":[\"read\",\"create\"]" REST},
		{"read", "accounts=*", NAMED "\"*\",\"roles\":[\"read\"]" REST},
		{"admin", "",
		 NAMED "\"*\",\"roles\":[\"read\",\"visitors\",\"create\","
		       "\"admin\"]" REST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_line_view(all[i].roles, all[i].line, all[i].view);
}

static void the_links_of_no_owner_have_an_empty_name(void **state)
{
	(void)state;
	assert_line_view("read", "account=acme owners=,ann,b%22%80",
			 "{\"name\":\"crm\",\"account\":\"acme\","
			 "\"accounts\":null,\"roles\":[\"read\"],"
			 "\"owners\":[\"\",\"ann\",\"b\\\"?\"],\"rate\":null");
}

static void a_rate_is_that_of_its_header(void **state)
{
	const struct rate_rule rule = {2, CLOCK_HOUR, 3};
	struct error err;
	struct api_key_info who = {
		.name = "crm", .account = "crm", .roles = API_READ};
	int64_t wait_ms;

	(void)state;
	who.limiter = rate_limiter_new(&rule, &err);
	assert_non_null(who.limiter);
	assert_true(rate_limiter_take(who.limiter, 2, 0, &wait_ms));
	assert_view(&who, 0,
		    NAMED "null,\"roles\":[\"read\"],\"owners\":null,"
			  "\"rate\":{\"burst\":3,\"window_seconds\":5400,"
			  "\"left\":1,\"full_in_seconds\":3600}");
	rate_limiter_free(who.limiter);
}

static void without_a_file_of_keys_a_caller_has_no_name(void **state)
{
	(void)state;
	assert_view(NULL, 0,
		    "{\"name\":null,\"account\":null,\"accounts\":\"*\","
		    "\"roles\":[\"read\",\"visitors\"]" REST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_learns_its_roles_with_those_they_include),
		WITH_FILE(the_links_of_no_owner_have_an_empty_name),
		cmocka_unit_test(a_rate_is_that_of_its_header),
		cmocka_unit_test(without_a_file_of_keys_a_caller_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
