#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/export/export_question.h"

static int parse_question(struct export_question *q, const char *text)
{
	struct error err = {0};
	int status = export_question_parse(
		q, (struct http_slice){text, strlen(text)}, EXPORT_NDJSON,
		&err);

	if (status < 0)
		assert_int_equal(err.code, ERROR_INPUT);
	return status;
}

static void questions_are_read(void **state)
{
	struct export_question q;

	(void)state;
	assert_int_equal(parse_question(&q, ""), 0);
	assert_int_equal(q.from_ms, -1);
	assert_int_equal(q.to_ms, -1);
	assert_int_equal(q.format, EXPORT_NDJSON);
	assert_int_equal(parse_question(&q, "owner=&format=csv&limit=5"), 0);
	assert_true(q.has_owner);
	assert_false(q.has_account);
	assert_int_equal(q.format, EXPORT_CSV);
	assert_int_equal(q.limit, 5);
	assert_int_equal(parse_question(&q, "account=acme&owner=ann"), 0);
	assert_true(q.has_account);
	assert_string_equal(q.account, "acme");
	assert_string_equal(q.owner, "ann");
	assert_int_equal(parse_question(&q, "from=1970-01-01T00:00:01.5Z"), 0);
	assert_int_equal(q.from_ms, 1500);
}

static void a_url_is_read_as_its_digest(void **state)
{
	static const char digest[] = "8198d1bac40a1033653a78e48800cefc";
	struct export_question q;

	(void)state;
	assert_int_equal(parse_question(&q, ""), 0);
	assert_string_equal(q.url, "");
	assert_int_equal(parse_question(&q, "url=HTTPS://example.org./"), 0);
	assert_string_equal(q.url, digest);
	assert_int_equal(
		parse_question(&q, "url=8198d1bac40a1033653a78e48800cefc"), 0);
	assert_string_equal(q.url, digest);
}

static void a_visitor_is_read_in_lower_case(void **state)
{
	struct export_question q;

	(void)state;
	assert_int_equal(parse_question(&q, ""), 0);
	assert_string_equal(q.visitor, "");
	assert_int_equal(
		parse_question(
			&q, "visitor=356A192B7913B04C54574D18C28D46E6395428AB"),
		0);
	assert_string_equal(q.visitor,
			    "356a192b7913b04c54574d18c28d46e6395428ab");
}

static void columns_beside_the_others_are_read(void **state)
{
	static const char *const wrong[] = {
		"also=",       "also=,",  "also=cookies,",
		"also=cookie", "also=ip", "also=trace_id,trace_id",
	};
	struct export_question q;

	(void)state;
	assert_int_equal(parse_question(&q, ""), 0);
	assert_int_equal(q.also, 0);
	assert_int_equal(parse_question(&q, "also=trace_id"), 0);
	assert_int_equal(q.also, 1U << EXPORT_TRACE_ID);
	assert_int_equal(parse_question(&q, "also=trace_id,cookies"), 0);
	assert_int_equal(q.also, 1U << EXPORT_TRACE_ID | 1U << EXPORT_COOKIES);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(parse_question(&q, wrong[i]), -1);
}

static void expect_format(const char *lines, enum export_format expected)
{
	struct export_accept accept = export_accept_none;
	struct http_slice rest = {lines, strlen(lines)};

	while (rest.len)
		export_accept_add(&accept, http_slice_cut(&rest, '|'));
	if (export_accept_choose(&accept) != expected)
		fail_msg("'%s'", lines);
}

static void the_format_is_what_the_client_likes(void **state)
{
	static const char *const csv[] = {
		"text/csv",
		"TEXT/CSV",
		"Text/Csv; charset=utf-8",
		"text/csv;q=0.1",
		"application/json, text/csv",
		"application/json|text/csv",
		"text/csv, */*;q=0.8",
		"*/*, text/csv",
		"text/csv, application/x-ndjson",
		"text/csv;header=present;q=0.5,application/x-ndjson;Q=0.4",
		"text/*",
		"text/*;q=0.2, */*;q=0.1",
		"*/*, application/x-ndjson;q=0.5",
	};
	static const char *const ndjson[] = {
		"",
		"*/*",
		"text/csv;q=0",
		"text/csv;q=0.000, */*",
		"text/csv ; q=0 | text/*",
		"text/csv;q=0.5, application/x-ndjson",
		"text/csv;q=0.5, APPLICATION/*;q=0.6",
		"text/csv-schema, text/csv2, xtext/csv",
		"text/csv;q=2",
		"text/csv;q=1;x=1",
		"text/html, application/xml;q=0.9, */*;q=0.8",
		"application/json",
		",, ;, ;q=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(csv) / sizeof(*csv); i++)
		expect_format(csv[i], EXPORT_CSV);
	for (size_t i = 0; i < sizeof(ndjson) / sizeof(*ndjson); i++)
		expect_format(ndjson[i], EXPORT_NDJSON);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		"x=1",
		"limit=0",
		"limit=-1",
		"limit=1e3",
		"limit=1000000001",
		"link_id=0",
		"link_id=18446744073709551616",
		"code=",
		"code=a%20b",
		"code=a&link_id=1",
		"code=a&account=a",
		"link_id=1&owner=a",
		"account=%00",
		"account=%01",
		"owner=a&owner=a",
		"owner=%01",
		"owner=%ff",
		"format=json",
		"from=2026-01-02&to=2026-01-02",
		"from=1969-12-31",
		"url=",
		"url=example.org",
		"visitor=",
		"visitor=356A192B7913B04C54574D18C28D46E6395428A",
		"visitor=356A192B7913B04C54574D18C28D46E6395428AB0",
		"visitor=356A192B7913B04C54574D18C28D46E6395428AX",
		"visitor=0000000000000000000000000000000000000000",
		"cursor=",
		"cursor=00",
	};
	struct export_question q;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (parse_question(&q, bad[i]) == 0)
			fail_msg("%s", bad[i]);
	}
}

static const struct export_cursor some_cursor = {
	.range = {1000, 90000000, 95000000, 0},
	.after = {.ts_ms = 86400000,
		  .link_id = UINT64_MAX,
		  .offset = INT64_C(1) << 40,
		  .partition = 7,
		  .epoch = 3,
		  .topic = "import:a b"},
};

static void a_cursor_comes_back_as_it_was(void **state)
{
	struct export_question q;
	struct export_cursor back;
	struct buf text = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_question(&q, "owner=ann"), 0);
	export_cursor_put(&text, &q, &some_cursor);
	assert_int_equal(export_cursor_parse(&q, buf_cstr(&text), &back, &err),
			 0);
	assert_memory_equal(&back.range, &some_cursor.range,
			    sizeof(back.range));
	assert_int_equal(back.after.ts_ms, some_cursor.after.ts_ms);
	assert_int_equal(back.after.link_id, UINT64_MAX);
	assert_int_equal(back.after.offset, some_cursor.after.offset);
	assert_int_equal(back.after.partition, 7);
	assert_int_equal(back.after.epoch, 3);
	assert_string_equal(back.after.topic, "import:a b");
	buf_free(&text);
}

static void a_cursor_is_of_its_question_only(void **state)
{
	static const char *const others[] = {"",
					     "owner=an",
					     "account=ann",
					     "account=&owner=ann",
					     "link_id=1",
					     "owner=ann&from=1970-01-01",
					     "owner=ann&url=http://a/"};
	struct export_question q;
	struct export_cursor back;
	struct buf text = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_question(&q, "owner=ann"), 0);
	export_cursor_put(&text, &q, &some_cursor);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(parse_question(&q, others[i]), 0);
		assert_int_equal(
			export_cursor_parse(&q, buf_cstr(&text), &back, &err),
			-1);
	}
	assert_int_equal(parse_question(&q, "owner=ann&limit=3&format=csv"), 0);
	assert_int_equal(export_cursor_parse(&q, text.data, &back, &err), 0);
	buf_free(&text);
}

static void a_cursor_that_was_made_up_is_looked_at(void **state)
{
	struct export_cursor cursor = some_cursor, back;
	struct export_question q;
	struct buf text = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_question(&q, ""), 0);
	cursor.after.ts_ms = cursor.range.to_ms;
	export_cursor_put(&text, &q, &cursor);
	assert_int_equal(export_cursor_parse(&q, buf_cstr(&text), &back, &err),
			 -1);
	assert_int_equal(err.code, ERROR_INPUT);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_read),
		cmocka_unit_test(a_url_is_read_as_its_digest),
		cmocka_unit_test(a_visitor_is_read_in_lower_case),
		cmocka_unit_test(columns_beside_the_others_are_read),
		cmocka_unit_test(the_format_is_what_the_client_likes),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_cursor_comes_back_as_it_was),
		cmocka_unit_test(a_cursor_is_of_its_question_only),
		cmocka_unit_test(a_cursor_that_was_made_up_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
