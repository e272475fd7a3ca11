#include <sys/stat.h>

#include "collector/enrich/geo/mmdb.h"
#include "tests/unit/collector/geo_file.h"

static struct geo *open_path(char *path, struct error *err)
{
	struct setting_strings files = {&path, 1};

	return geo_open(&files, "en", err);
}

static void assert_refused(char *path, const char *reason)
{
	struct error err = {0};

	assert_null(mmdb_open(path, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, path) || !strstr(err.text, reason))
		fail_msg("%s: expected: %s", err.text, reason);
}

static struct mmdb_file *small_file(void)
{
	struct mmdb_file *f = mmdb_file_new(24, 4);

	put_map(&f->data, 2);
	put_pair(&f->data, "country_code", "DE");
	put_text(&f->data, "city");
	put_pointer(&f->data, 14); /* "DE" */
	mmdb_file_add(f, "1.0.0.0/8", 0);
	return f;
}

/* Writes the file with its changed data; opening it must fail. */
static void expect_file_refused(struct mmdb_file *f, const char *reason)
{
	char *path = mmdb_file_write(f);

	assert_refused(path, reason);
	unlink(path);
	free(path);
	mmdb_file_free(f);
}

static void what_is_no_file_is_refused(void **unused)
{
	char pipe[] = "/tmp/shortloop-geo-XXXXXX";
	struct buf text = {0};
	char *path;

	(void)unused;
	assert_refused((char[]){"/nowhere/x.mmdb"}, "No such file");
	assert_refused((char[]){"/tmp"}, "not a regular file");
	assert_refused((char[]){"/dev/null"}, "not a regular file");
	assert_true(mkdtemp(pipe));
	rmdir(pipe);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_refused(pipe, "not a regular file");
	unlink(pipe);
	path = mmdb_file_save(&text);
	assert_refused(path, "an empty file");
	unlink(path);
	free(path);
	buf_puts(&text, "some text");
	path = mmdb_file_save(&text);
	assert_refused(path, "no MaxMind DB");
	unlink(path);
	free(path);
	buf_free(&text);
}

static void a_tree_that_leads_nowhere_is_refused(void **unused)
{
	struct mmdb_file *f = small_file();

	(void)unused;
	mmdb_file_add(f, "2.0.0.0/8", 100000);
	expect_file_refused(f, "of its tree: it leads nowhere");
}

static void a_tree_that_goes_round_is_refused(void **unused)
{
	struct mmdb_file *f = small_file();

	(void)unused;
	f->nodes[f->node_count - 1][0] = 1;
	expect_file_refused(f, "of its tree: deeper than an address is long");
}

/* Adds `length` nodes, each of which leads to the next, and the last to `end`;
 * returns the first. */
static uint32_t add_chain(struct mmdb_file *f, unsigned length, int32_t end)
{
	uint32_t first = f->node_count;

	for (unsigned left = length; left; left--) {
		uint32_t node = f->node_count++;

		f->nodes[node][0] = left > 1 ? (int32_t)node + 1 : end;
		f->nodes[node][1] = MMDB_FILE_EMPTY;
	}
	return first;
}

/* Makes two ways to one part of a tree: a short one, and one with that many
 * more nodes. */
static struct mmdb_file *shared_part(unsigned nodes)
{
	enum {
		HEIGHT = 20
	};
	struct mmdb_file *f = mmdb_file_new(24, 4);
	int32_t part = (int32_t)add_chain(f, HEIGHT, MMDB_FILE_EMPTY);

	put_map(&f->data, 0);
	f->nodes[0][0] = part;
	f->nodes[0][1] = (int32_t)add_chain(f, nodes, part);
	return f;
}

static void a_shared_part_is_no_deeper_than_an_address_is_long(void **unused)
{
	struct mmdb_file *f = shared_part(11);
	char *path = mmdb_file_write(f);
	struct error err = {0};
	struct mmdb *m = mmdb_open(path, &err);

	(void)unused;
	if (!m)
		fail_msg("%s", err.text);
	mmdb_close(m);
	unlink(path);
	free(path);
	mmdb_file_free(f);
	expect_file_refused(shared_part(12),
			    "of its tree: deeper than an address is long");
}

static void more_nodes_than_there_are_bytes_are_refused(void **unused)
{
	struct mmdb_file *f = small_file();
	struct buf bytes = {0};
	uint8_t *count;
	char *path;

	(void)unused;
	mmdb_file_bytes(f, &bytes);
	count = memmem(bytes.data, bytes.len, "node_count", 10);
	/* Multiplied by six bytes, this wraps to a small number in 32 bits. */
	memcpy(count + 11, "\x2a\xaa\xaa\xab", 4);
	path = mmdb_file_save(&bytes);
	assert_refused(path, "its 715827883 nodes do not fit");
	unlink(path);
	free(path);
	buf_free(&bytes);
	mmdb_file_free(f);
}

static void broken_data_is_refused_wherever_it_is(void **unused)
{
	struct mmdb_file *f = small_file();

	(void)unused;
	f->data.len = 0; /* a pointer beyond the end */
	put_map(&f->data, 1);
	put_text(&f->data, "city");
	put_pointer(&f->data, 2000);
	expect_file_refused(f, "broken at byte 6 of its data");

	f = small_file();
	f->data.len = 0; /* a pointer to a pointer */
	put_map(&f->data, 1);
	put_text(&f->data, "city");
	put_pointer(&f->data, 8);
	put_pointer(&f->data, 0);
	expect_file_refused(
		f, "broken at byte 6 of its data: no value, or a pointer to");

	f = small_file();
	f->data.len = 0; /* an unknown type */
	put_map(&f->data, 1);
	put_text(&f->data, "city");
	put_control(&f->data, 12, 0);
	expect_file_refused(f, "broken at byte 6 of its data: no value");

	f = small_file();
	f->data.len = 0; /* a key that is a number */
	put_map(&f->data, 1);
	put_u16(&f->data, 1);
	put_text(&f->data, "city");
	expect_file_refused(
		f, "broken at byte 1 of its data: a key that is no text");

	f = small_file();
	f->data.len = 0;
	for (int i = 0; i < 1000000; i++) /* this is deeper than any stack */
		put_array(&f->data, 1);
	put_map(&f->data, 0);
	expect_file_refused(f, "nested too deep");

	f = small_file();
	f->data.len = 0; /* a text that goes beyond the data */
	put_map(&f->data, 1);
	put_text(&f->data, "city");
	put_control(&f->data, 2, 20);
	expect_file_refused(f, "broken at byte 6 of its data");

	f = small_file();
	f->data.len = 0; /* a double of four bytes */
	put_map(&f->data, 1);
	put_text(&f->data, "latitude");
	put_pointer(&f->data, 12);
	put_control(&f->data, 3, 4);
	buf_append(&f->data, "1234", 4);
	expect_file_refused(f, "broken at byte 10 of its data");
}

static void a_record_that_points_to_itself_does_no_harm(void **unused)
{
	static const char *const keys[] = {"city", "location", "traits"};
	struct mmdb_file *f = small_file();
	struct geo *g;

	(void)unused;
	f->data.len = 0;
	put_map(&f->data, 4);
	for (int i = 0; i < 3; i++) {
		put_text(&f->data, keys[i]);
		put_pointer(&f->data, 0);
	}
	put_pair(&f->data, "country_code", "DE");
	g = open_files(mmdb_file_write(f), NULL);
	assert_text(look_up_address(g, "1.2.3.4").city, "");
	assert_text(look_up_address(g, "1.2.3.4").country, "DE");
	geo_close(g);
	mmdb_file_free(f);
}

/* Arrays of two pointers to the next array: 2^30 values if they were expanded.
 */
static void values_folded_into_one_another_are_gone_through_once(void **unused)
{
	struct mmdb_file *f = small_file();
	struct geo *g;

	(void)unused;
	f->data.len = 0;
	for (unsigned i = 1; i <= 30; i++) {
		put_array(&f->data, 2);
		put_pointer(&f->data, 6 * i);
		put_pointer(&f->data, 6 * i);
	}
	put_map(&f->data, 0);
	g = open_files(mmdb_file_write(f), NULL);
	assert_text(look_up_address(g, "1.2.3.4").city, "");
	geo_close(g);
	mmdb_file_free(f);
}

/* Puts this after the marker, in place of the metadata. */
static void refuse_metadata(const struct buf *metadata, const char *reason)
{
	struct mmdb_file *f = small_file();
	struct buf bytes = {0};
	char *path;

	mmdb_file_bytes(f, &bytes);
	bytes.len = (size_t)((char *)memmem(bytes.data, bytes.len,
					    "MaxMind.com", 11) +
			     11 - bytes.data);
	buf_append(&bytes, metadata->data, metadata->len);
	path = mmdb_file_save(&bytes);
	assert_refused(path, reason);
	unlink(path);
	free(path);
	buf_free(&bytes);
	mmdb_file_free(f);
}

static void broken_metadata_are_refused(void **unused)
{
	struct buf b = {0};

	(void)unused;
	refuse_metadata(&b, "of its metadata: cut short");
	put_text(&b, "text");
	refuse_metadata(&b, "broken metadata: ");

	buf_reset(&b);
	for (int i = 0; i < 60000; i++)
		put_array(&b, 1);
	put_map(&b, 0);
	refuse_metadata(&b, "of its metadata: nested too deep");

	buf_reset(&b); /* 2^30 languages */
	put_map(&b, 1);
	put_text(&b, "languages");
	put_array(&b, 2);
	put_pointer(&b, 11);
	put_pointer(&b, 11);
	refuse_metadata(&b, "broken at byte 13 of its metadata: a pointer");

	buf_reset(&b);
	put_map(&b, 1);
	put_text(&b, "languages");
	put_array(&b, 2);
	put_text(&b, "en");
	put_u16(&b, 1);
	refuse_metadata(&b, "a language that is no text");
	buf_free(&b);
}

static void a_file_too_large_is_refused(void **unused)
{
	struct buf none = {0};
	char *path = mmdb_file_save(&none);

	(void)unused;
	if (truncate(path, (off_t)1 << 32) == 0)
		assert_refused(path, "4 GiB or larger");
	unlink(path);
	free(path);
}

/* A file that is cut anywhere lacks its end, where the metadata are. */
static void a_file_cut_short_anywhere_is_refused(void **unused)
{
	struct mmdb_file *f = small_file();
	struct buf bytes = {0};
	size_t whole;
	char *path;

	(void)unused;
	mmdb_file_bytes(f, &bytes);
	whole = bytes.len;
	for (bytes.len = 0; bytes.len < whole; bytes.len++) {
		path = mmdb_file_save(&bytes);
		assert_refused(path, "");
		unlink(path);
		free(path);
	}
	buf_free(&bytes);
	mmdb_file_free(f);
}

static void ask_everything(const struct geo *g)
{
	for (int i = 0; i < 64; i++) {
		/* addresses from 0.0.0.0 on, and of 0000::/6 to fc00::/6 */
		uint8_t ip[16] = {(uint8_t)(i % 2 ? 0 : i << 2)};
		struct geo_place place;
		struct geo_record r;

		if (i % 2) {
			ip[10] = ip[11] = 0xff;
			ip[12] = (uint8_t)(i / 2);
		}
		assert_true(geo_find(g, ip, &place) <= 128);
		geo_read(g, &place, &r);
		assert_true(r.country.len <= 13); /* "documentation" */
	}
}

/* With any wrong byte, the file is refused or look-ups still work. */
static void a_byte_changed_anywhere_does_no_harm(void **unused)
{
	static const uint8_t values[] = {0x00, 0x1f, 0x27, 0x7f, 0xff};
	struct mmdb_file *f = small_file();
	struct buf bytes = {0};
	unsigned opened = 0, refused = 0;

	(void)unused;
	mmdb_file_bytes(f, &bytes);
	for (size_t i = 0; i < bytes.len * sizeof(values); i++) {
		char *at = bytes.data + i / sizeof(values), was = *at;
		struct error err = {0};
		struct geo *g;
		char *path;

		*at = (char)values[i % sizeof(values)];
		path = mmdb_file_save(&bytes);
		g = open_path(path, &err);
		*at = was;
		if (g)
			ask_everything(g);
		opened += g != NULL;
		refused += g == NULL;
		geo_close(g);
		unlink(path);
		free(path);
	}
	assert_true(opened > 10 && refused > 10);
	buf_free(&bytes);
	mmdb_file_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_tree_that_leads_nowhere_is_refused),
		cmocka_unit_test(a_tree_that_goes_round_is_refused),
		cmocka_unit_test(
			a_shared_part_is_no_deeper_than_an_address_is_long),
		cmocka_unit_test(more_nodes_than_there_are_bytes_are_refused),
		cmocka_unit_test(broken_data_is_refused_wherever_it_is),
		cmocka_unit_test(a_record_that_points_to_itself_does_no_harm),
		cmocka_unit_test(
			values_folded_into_one_another_are_gone_through_once),
		cmocka_unit_test(broken_metadata_are_refused),
		cmocka_unit_test(a_file_too_large_is_refused),
		cmocka_unit_test(a_file_cut_short_anywhere_is_refused),
		cmocka_unit_test(a_byte_changed_anywhere_does_no_harm),
	};

	return cmocka_run_group_tests_name("geo_broken", tests, NULL, NULL);
}
