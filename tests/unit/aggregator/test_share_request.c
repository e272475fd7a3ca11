#include <string.h>

#include "aggregator/api/shares/share_request.h"
#include "aggregator/api/shares/share_token.h"
#include "tests/unit/unit.h"

/* 2026-11-30T12:00:00Z, and the start of that day. */
#define NOW   INT64_C(1796040000000)
#define TODAY INT64_C(1795996800)
#define DAY   INT64_C(86400)

static int parse_text(const char *text, struct share_request *ret,
		      struct error *err)
{
	return share_request_parse(ret, (struct http_slice){text, strlen(text)},
				   NOW, err);
}

static struct share_request parsed_request(const char *text)
{
	struct share_request r;
	struct error err = {0};

	if (parse_text(text, &r, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return r;
}

static void a_link_or_filters_are_read(void **state)
{
	struct share_request r;

	(void)state;
	r = parsed_request("{\"code\":\"Ab-3_x\"}");
	assert_string_equal(r.share.code, "Ab-3_x");
	assert_int_equal(json_object_size(r.share.filters), 0);
	assert_false(share_has_range(&r.share));
	share_request_release(&r);
	r = parsed_request(
		"{\"link_id\":\"18446744073709551615\",\"code\":null}");
	assert_true(r.share.link_id == UINT64_MAX);
	share_request_release(&r);
	r = parsed_request("{\"filters\":{\"campaign\":\"a,b\",\"tag\":\"-x\"},"
			   "\"password\":\"12345678\"}");
	assert_string_equal(
		json_string_value(json_object_get(r.share.filters, "campaign")),
		"a,b");
	assert_string_equal(r.password, "12345678");
	share_request_release(&r);
}

static void a_mistake_names_its_member(void **state)
{
	static const struct {
		const char *body, *begins;
	} cases[] = {
		{"", "the body"},
		{"[]", "the body"},
		{"{\"code\":\"a\",\"code\":\"b\"}", "the body"},
		{"{}", "code, link_id, filters"},
		{"{\"filters\":null}", "code, link_id, filters"},
		{"{\"code\":\"a\",\"filters\":{}}", "code, link_id, filters"},
		{"{\"code\":\"a\",\"link_id\":\"1\"}",
		 "code, link_id, filters"},
		{"{\"code\":\"\"}", "code"},
		{"{\"link_id\":\"0\"}", "link_id"},
		{"{\"link_id\":\"18446744073709551616\"}", "link_id"},
		{"{\"link_id\":\" 1\"}", "link_id"},
		{"{\"link_id\":1}", "link_id"},
		{"{\"filters\":{\"link\":\"1\"}}", "filters: link"},
		{"{\"filters\":{\"total\":\"1\"}}", "filters: total"},
		{"{\"filters\":{\"tag\":null}}", "filters: tag"},
		{"{\"filters\":{\"tag\":\"a\\\\\"}}", "filters: tag"},
		{"{\"code\":\"a\",\"last_days\":0}", "last_days"},
		{"{\"code\":\"a\",\"last_days\":3661}", "last_days"},
		{"{\"code\":\"a\",\"last_days\":\"3\"}", "last_days"},
		{"{\"code\":\"a\",\"last_days\":3,\"to\":\"2026-01-01\"}",
		 "last_days"},
		{"{\"code\":\"a\",\"from\":\"2026-01-01T00:01:00Z\"}", "from"},
		{"{\"code\":\"a\",\"from\":\"2026-01-02\",\"to\":\"2026-01-"
		 "02\"}",
		 "from"},
		{"{\"code\":\"a\",\"expires_at\":\"2026-11-30T12:00:00Z\"}",
		 "expires_at"},
		{"{\"code\":\"a\",\"expires_at\":\"2200-01-01\"}",
		 "expires_at"},
		{"{\"code\":\"a\",\"password\":\"1234567\"}", "password"},
		{"{\"code\":\"a\",\"password\":12345678}", "password"},
		{"{\"code\":\"a\",\"Password\":\"12345678\"}", "Password"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct share_request r;
		struct error err = {0};

		assert_int_equal(parse_text(cases[i].body, &r, &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
		assert_int_equal(!*err.field, !r.mistakes.count);
		if (strncmp(err.text, cases[i].begins,
			    strlen(cases[i].begins)) != 0)
			fail_msg("%s: %s", cases[i].body, err.text);
		share_request_release(&r);
	}
}

static void all_mistakes_are_kept(void **state)
{
	static const char body[] =
		"{\"filters\":{\"link\":\"1\",\"tag\":\"a\",\"city\":7},"
		"\"nothing\":1,\"code\":\"\",\"to\":\"x\",\"last_days\":0}";
	struct share_request r;
	struct error err = {0};
	struct buf members = {0};
	const char *text;

	(void)state;
	assert_int_equal(parse_text(body, &r, &err), -1);
	assert_string_equal(err.field, "nothing");
	assert_int_equal(r.mistakes.count, 7);
	text = field_mistakes_format(&r.mistakes, "", &members);
	assert_memory_equal(text, ",\"field\":\"nothing\",\"errors\":[", 29);
	assert_non_null(
		strstr(text, "{\"field\":\"code\",\"detail\":\"code: "));
	assert_non_null(strstr(text, "{\"field\":\"filters.link\","));
	assert_non_null(strstr(text, "{\"field\":\"filters.city\","));
	assert_non_null(strstr(text, "{\"field\":\"to\","));
	assert_non_null(strstr(text, "{\"field\":\"last_days\","));
	buf_free(&members);
	share_request_release(&r);
}

static void check_range(const char *body, int64_t from, int64_t to)
{
	struct share_request r = parsed_request(body);
	int64_t begins, ends;

	assert_true(share_has_range(&r.share));
	share_range(&r.share, NOW, &begins, &ends);
	assert_int_equal(begins, from);
	assert_int_equal(ends, to);
	share_request_release(&r);
}

static void a_range_is_fixed_or_ends_with_today(void **state)
{
	(void)state;
	check_range("{\"code\":\"a\",\"from\":\"2026-11-30\"}", TODAY,
		    INT64_MAX);
	check_range("{\"code\":\"a\",\"to\":\"2026-11-30T02:15:00+02:00\"}", 0,
		    TODAY + 900);
	check_range("{\"code\":\"a\",\"last_days\":1}", TODAY, INT64_MAX);
	check_range("{\"code\":\"a\",\"last_days\":30}", TODAY - 29 * DAY,
		    INT64_MAX);
}

/* --- tokens, passwords ---------------------------------------------------- */

static void a_token_leads_to_its_share_alone(void **state)
{
	char token[SHARE_TOKEN_MAX], other[SHARE_TOKEN_MAX];
	struct share_name name, read = {.id = ""};
	struct share share = {.id = ""};

	(void)state;
	share_token_make(other, &name);
	share_token_make(token, &name);
	assert_string_not_equal(token, other);
	assert_int_equal(strlen(token), SHARE_TOKEN_MAX - 1);
	assert_true(share_id_is_valid(name.id));
	memcpy(share.digest, name.digest, sizeof(share.digest));
	assert_true(share_token_read((struct http_slice){token, 22}, &read));
	assert_string_equal(read.id, name.id);
	assert_true(share_token_is_of(&read, &share));
	assert_true(share_token_read((struct http_slice){other, 22}, &read));
	assert_string_not_equal(read.id, name.id);
	assert_false(share_token_is_of(&read, &share));
}

static void other_text_is_no_token(void **state)
{
	static const char *const texts[] = {
		"",
		"AAAAAAAAAAAAAAAAAAAAA",
		"AAAAAAAAAAAAAAAAAAAAAAA",
		"AAAAAAAAAAAAAAAAAAAAA=",
		"AAAAAAAAAAAAAAAAAAAAA+",
		"AAAAAAAAAAAAAAAAAAAAA ",
	};
	struct share_name name;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(share_token_read(
			(struct http_slice){texts[i], strlen(texts[i])},
			&name));
}

static void a_password_has_a_slow_salted_hash(void **state)
{
	char one[SHARE_PASSWORD_HASH], two[SHARE_PASSWORD_HASH];
	char none[SHARE_PASSWORD_HASH] = "no hash";
	struct error err = {0};

	(void)state;
	assert_int_equal(share_password_hash("open sesame", one, &err), 0);
	assert_int_equal(share_password_hash("open sesame", two, &err), 0);
	assert_string_not_equal(one, two);
	assert_memory_equal(one, "$argon2id$", 10);
	assert_true(share_password_is("open sesame", one));
	assert_false(share_password_is("open sesam", one));
	assert_false(share_password_is("", one));
	assert_false(share_password_is("open sesame", none));
}

/* --- the stored text ------------------------------------------------------ */

static const char stored[] =
	"{\"id\":\"0123456789abcdef01234567\",\"digest\":\"d\",\"password\":"
	"\"\","
	"\"key\":\"crm\",\"key_digest\":\"000102030405060708090a0b0c0d0e0f"
	"101112131415161718191a1b1c1d1e1f\",\"account\":\"acme\",\"listed\":"
	"\"acme\",\"link_id\":\"7\",\"code\":\"a\",\"filters\":{},\"owners\":"
	"[\"ann\"],\"from\":-1,\"to\":900,\"last_days\":0,\"created_at\":5,"
	"\"expires_at\":0}";

static void a_share_is_read_as_it_was_stored(void **state)
{
	struct error err = {0};
	struct share *share = share_parse(stored, strlen(stored), &err);
	json_t *again, *first = json_loads(stored, 0, NULL);

	(void)state;
	assert_non_null(share);
	assert_int_equal(share->link_id, 7);
	assert_int_equal(share->key_digest[31], 0x1f);
	again = share_to_json(share);
	assert_true(json_equal(first, again));
	json_decref(first);
	json_decref(again);
	share_free(share);
}

/* Each member is taken out, or gets another type, in turn. */
static void a_damaged_share_is_no_share(void **state)
{
	static const char *const values[] = {"[1]", "-2", "null"};
	json_t *whole = json_loads(stored, 0, NULL), *value;
	const char *name;

	(void)state;
	json_object_foreach(whole, name, value)
	{
		for (size_t i = 0; i < 4; i++) {
			json_t *part = json_copy(whole);
			struct error err = {0};
			char *text;

			/* NULL stands for any owner. */
			if (i == 2 && !strcmp(name, "owners"))
				i++;
			json_object_del(part, name);
			if (i < 3)
				json_object_set_new(part, name,
						    json_loads(values[i],
							       JSON_DECODE_ANY,
							       NULL));
			text = json_dumps(part, 0);
			assert_null(share_parse(text, strlen(text), &err));
			assert_int_equal(err.code, ERROR_DAMAGED);
			free(text);
			json_decref(part);
		}
	}
	json_decref(whole);
}

static void nobody_is_shown_a_digest(void **state)
{
	struct error err = {0};
	struct share *share = share_parse(stored, strlen(stored), &err);
	json_t *list = share_to_list(share), *view = share_to_view(share);
	char *text = json_dumps(list, 0);

	(void)state;
	assert_null(strstr(text, "digest"));
	assert_null(strstr(text, "0001020304"));
	assert_true(json_is_false(json_object_get(list, "has_password")));
	assert_null(json_object_get(view, "created_by"));
	assert_null(json_object_get(view, "account"));
	free(text);
	json_decref(list);
	json_decref(view);
	share_free(share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_or_filters_are_read),
		cmocka_unit_test(a_mistake_names_its_member),
		cmocka_unit_test(all_mistakes_are_kept),
		cmocka_unit_test(a_range_is_fixed_or_ends_with_today),
		cmocka_unit_test(a_token_leads_to_its_share_alone),
		cmocka_unit_test(other_text_is_no_token),
		cmocka_unit_test(a_password_has_a_slow_salted_hash),
		cmocka_unit_test(a_share_is_read_as_it_was_stored),
		cmocka_unit_test(a_damaged_share_is_no_share),
		cmocka_unit_test(nobody_is_shown_a_digest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
