#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>
#include <zstd.h>

#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/failure.h"
#include "common/compress.h"

static const char syntax_error[] =
	"Code: 62. DB::Exception: Syntax error: failed at position 1.\n"
	"(SYNTAX_ERROR) (version 25.8)\n";

static void the_code_is_read_from_the_body(void **state)
{
	(void)state;
	assert_int_equal(
		clickhouse_code_of_body(syntax_error, strlen(syntax_error)),
		62);
}

static void a_body_without_a_code_has_none(void **state)
{
	static const char cut[] = "Code: ";

	(void)state;
	assert_int_equal(clickhouse_code_of_body(NULL, 0), 0);
	assert_int_equal(clickhouse_code_of_body("Bad Gateway", 11), 0);
	assert_int_equal(clickhouse_code_of_body(cut, strlen(cut)), 0);
}

static void an_absurd_code_does_not_overflow(void **state)
{
	static const char body[] = "Code: 99999999999999999999999999";

	(void)state;
	assert_true(clickhouse_code_of_body(body, strlen(body)) > 0);
}

static void bad_sql_is_not_retried(void **state)
{
	struct error err = {0};

	(void)state;
	clickhouse_failure_set(&err, 400, 62, syntax_error,
			       strlen(syntax_error));
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_false(err.retriable);
	assert_string_equal(err.text,
			    "HTTP 400: Code: 62. DB::Exception: Syntax error: "
			    "failed at position 1.");
}

static void too_many_parts_is_retried(void **state)
{
	struct error err = {0};

	(void)state;
	clickhouse_failure_set(&err, 500, 252, "", 0);
	assert_true(err.retriable);
}

static void a_query_that_is_still_under_way_is_retried(void **state)
{
	static const char body[] =
		"Code: 216. DB::Exception: Query with id = a is already "
		"running. (QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING)\n";
	struct error err = {0};

	(void)state;
	clickhouse_failure_set(&err, 500, 216, body, sizeof(body) - 1);
	assert_true(err.retriable);
}

static void a_code_outweighs_the_status(void **state)
{
	struct error err = {0};

	(void)state;
	clickhouse_failure_set(&err, 500, 47, "Code: 47.", 9);
	assert_false(err.retriable);
}

static void a_gateway_without_a_code_is_retried(void **state)
{
	struct error err = {0};

	(void)state;
	clickhouse_failure_set(&err, 502, 0, "Bad Gateway", 11);
	assert_true(err.retriable);
}

static void a_url_of_another_scheme_is_a_config_error(void **state)
{
	struct clickhouse_config config = {.url = (char[]){"ftp://host"}};
	struct error err = {0};

	(void)state;
	assert_null(clickhouse_new(&config, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void a_password_begins_no_other_header(void **state)
{
	struct clickhouse_config config = {
		.url = (char[]){"http://127.0.0.1:1"},
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 4096,
		.password = (char[]){"secret\r\nX-ClickHouse-User: admin"},
	};
	struct error err = {0};

	(void)state;
	assert_null(clickhouse_new(&config, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "X-ClickHouse-Key has a control"));
	assert_null(strstr(err.text, "secret"));
}

static void a_refused_connection_is_retriable(void **state)
{
	/* Port 1 is reserved (tcpmux); no server listens there. */
	struct clickhouse_config config = {
		.url = (char[]){"http://127.0.0.1:1"},
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 4096,
	};
	struct error err = {0};
	struct clickhouse *ch;

	(void)state;
	ch = clickhouse_new(&config, &err);
	assert_non_null(ch);
	assert_int_equal(clickhouse_ping(ch, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_true(err.retriable);
	assert_int_equal(clickhouse_last_code(ch), 0);
	clickhouse_free(ch);
}

static void a_parameter_keeps_its_odd_bytes(void **state)
{
	struct buf out = {0};

	(void)state;
	clickhouse_escape(&out, "a\tb\\c\nd\0", 8);
	assert_string_equal(out.data, "a\\tb\\\\c\\nd\\0");
	buf_free(&out);
}

static void zstd_says_its_content_size(void **state)
{
	char data[5000] = {0}, back[5000];
	struct buf out = {0};
	struct error err = {0};

	(void)state;
	assert_int_equal(compress_append("zstd", COMPRESS_NEAR, data,
					 sizeof(data), &out, &err),
			 0);
	assert_int_equal(ZSTD_getFrameContentSize(out.data, out.len), 5000);
	assert_int_equal(ZSTD_decompress(back, sizeof(back), out.data, out.len),
			 5000);
	buf_free(&out);
}

static void gzip_comes_back_whole(void **state)
{
	char data[5000], back[5001];
	struct buf out = {0};
	struct error err = {0};
	z_stream z = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * i % 251);
	assert_int_equal(compress_append("gzip", COMPRESS_FAR, data,
					 sizeof(data), &out, &err),
			 0);
	z.next_in = (Bytef *)out.data;
	z.avail_in = (uInt)out.len;
	z.next_out = (Bytef *)back;
	z.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, sizeof(data));
	assert_memory_equal(back, data, sizeof(data));
	inflateEnd(&z);
	buf_free(&out);
}

static void only_what_reads_is_a_question(void **state)
{
	static const char *const questions[] = {
		"SELECT 1",
		"  select count() FROM t",
		"(SELECT 1) UNION ALL (SELECT 2)",
		"WITH 1 AS x SELECT x",
		"WITH 1 AS x SELECT x, inserted_at FROM t",
		"WITH a AS (SELECT max_insert FROM t) SELECT insertion FROM a",
		"SHOW TABLES",
		"EXISTS TABLE t",
	};
	static const char *const changes[] = {
		"INSERT INTO t SELECT 1",
		"ALTER TABLE t DELETE WHERE 1",
		"CREATE TABLE t (a Int8) ENGINE = Memory",
		"WITH 1 AS x INSERT INTO t SELECT x",
		"WITH max(inserted_at) AS x\ninsert INTO t SELECT x",
		"WITH (SELECT 1) AS x/**/INSERT INTO t SELECT x",
		"SELECTED",
		"/* SELECT */ DROP TABLE t",
		"KILL QUERY WHERE 1",
		"",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		assert_true(clickhouse_is_question(questions[i]));
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		assert_false(clickhouse_is_question(changes[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_code_is_read_from_the_body),
		cmocka_unit_test(a_body_without_a_code_has_none),
		cmocka_unit_test(an_absurd_code_does_not_overflow),
		cmocka_unit_test(bad_sql_is_not_retried),
		cmocka_unit_test(too_many_parts_is_retried),
		cmocka_unit_test(a_query_that_is_still_under_way_is_retried),
		cmocka_unit_test(a_code_outweighs_the_status),
		cmocka_unit_test(a_gateway_without_a_code_is_retried),
		cmocka_unit_test(a_url_of_another_scheme_is_a_config_error),
		cmocka_unit_test(a_password_begins_no_other_header),
		cmocka_unit_test(a_refused_connection_is_retriable),
		cmocka_unit_test(a_parameter_keeps_its_odd_bytes),
		cmocka_unit_test(only_what_reads_is_a_question),
		cmocka_unit_test(zstd_says_its_content_size),
		cmocka_unit_test(gzip_comes_back_whole),
	};

	return cmocka_run_group_tests_name("clickhouse", tests, NULL, NULL);
}
