#include "tests/unit/unit.h"

#include <inttypes.h>
#include <string.h>

#include "collector/tools/import/import_batch.h"

/* Offsets of lines in a log, around the limits of numbers of 31, 32 and 53
 * bits. */
static const uint64_t far_on[] = {
	5,
	(UINT64_C(1) << 31) - 1,
	(UINT64_C(1) << 31) + 5,
	(UINT64_C(1) << 32) + 5,
	(UINT64_C(1) << 40) + 5,
	(UINT64_C(1) << 53) + 1,
	(UINT64_C(1) << 53) + 2,
	(UINT64_C(1) << 53) + 3,
	INT64_MAX - 1000,
	INT64_MAX - 999,
};
#define FAR_COUNT (sizeof(far_on) / sizeof(*far_on))

/* The enricher reads the settings during its whole life, so they are static. */
static struct enricher *new_enricher(void)
{
	static char english[] = "en", sha1[] = "sha1", whole[] = "whole";
	static struct collector_settings settings = {
		.clicks = {.late_window = 86400000},
		.ua_cache = 1 << 20,
		.geo_language = english,
		.visitor_identity = sha1,
		.store_ip = whole,
		.geo_cache = 1 << 20,
		.max_text = 256,
	};
	static char path[64];
	struct error err = {0};
	struct enricher *e;

	settings.ua_rules = unit_write_file("user_agent_parsers: []\n"
					    "os_parsers: []\n"
					    "device_parsers: []\n",
					    path);
	e = enricher_new(&settings, &err);
	unlink(path);
	assert_string_equal(err.text, "");
	assert_non_null(e);
	return e;
}

/* Takes a click from each line. */
static void take_lines(struct import_batch *b)
{
	static const char agent[] = "curl/8", method[] = "GET", path[] = "/abc";
	const struct visit_rules rules = {
		.path_prefix = "/", .edge = "edge-1", .event_id = 99};
	const struct access_visit visit = {
		.time_ms = 1431857103000,
		.ip = {192, 0, 2, 7},
		.ip_len = 4,
		.method = {method, strlen(method)},
		.path = {path, strlen(path)},
		.status = 302,
		.user_agent = {agent, strlen(agent)},
	};

	for (size_t i = 0; i < FAR_COUNT; i++) {
		import_batch_note_line(b, far_on[i], 100);
		assert_int_equal(import_batch_take(b, &visit, &rules),
				 VISIT_CLICK);
	}
}

static size_t times_in(const struct buf *rows, uint64_t number)
{
	const char *at = rows->data, *end = rows->data + rows->len;
	size_t count = 0;

	while ((at = memmem(at, (size_t)(end - at), &number, sizeof(number)))) {
		at++;
		count++;
	}
	return count;
}

/* Returns as bits which entries of far_on are rows. */
static unsigned rows_of(const struct import_batch *b)
{
	struct ranges in_hand = b->batch.in_hand;
	unsigned found = 0;

	for (size_t i = 0; i < FAR_COUNT; i++) {
		bool is = ranges_have(&in_hand, far_on[i]);

		assert_int_equal(times_in(&b->batch.rows, far_on[i]) > 0, is);
		found |= (unsigned)is << i;
	}
	return found;
}

static void build_batch(struct import_batch *b, struct enricher *e,
			const struct journal_state *state)
{
	static const struct journal journal = {.topic = "import:far"};
	struct error err = {0};

	assert_int_equal(import_batch_build(b, e, &journal, state, &err), 0);
}

static void lines_far_on_keep_their_offsets(void **state)
{
	struct enricher *e = new_enricher();
	const struct journal_state none = {0};
	const struct progress_origin origin = {.topic = "import:far",
					       .collector = "x"};
	struct import_batch b = {0};
	struct buf row = {0};
	char name[BATCH_NAME_MAX];

	(void)state;
	take_lines(&b);
	build_batch(&b, e, &none);
	assert_int_equal(rows_of(&b), (1u << FAR_COUNT) - 1);
	batch_name(&b.batch, 0, "import:far", 0, name);
	assert_string_equal(name, "0:import:far:0:5-9223372036854774808");
	batch_progress_row(&b.batch, &origin, &row);
	assert_int_equal(times_in(&row, far_on[FAR_COUNT - 1]), 1);
	buf_free(&row);
	import_batch_release(&b);
	enricher_free(e);
}

static void each_of_them_is_known_to_be_stored(void **state)
{
	struct enricher *e = new_enricher();
	struct import_batch b = {0};

	(void)state;
	take_lines(&b);
	for (size_t i = 0; i < FAR_COUNT; i++) {
		uint64_t stored = far_on[i];
		const struct journal_state one = {.stored = &stored,
						  .stored_count = 1};

		build_batch(&b, e, &one);
		assert_int_equal(rows_of(&b),
				 ((1u << FAR_COUNT) - 1) & ~(1u << i));
		assert_int_equal(b.stored, 1);
	}
	import_batch_release(&b);
	enricher_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_far_on_keep_their_offsets),
		cmocka_unit_test(each_of_them_is_known_to_be_stored),
	};

	return cmocka_run_group_tests_name("import_batch", tests, NULL, NULL);
}
