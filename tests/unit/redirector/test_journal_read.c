/* Any byte of a journal that is read may be damaged. */
#include "tests/unit/unit.h"

#include <string.h>
#include <xxhash.h>

#include "redirector/events/event_journal.h"

enum {
	HEADER_SIZE = 4096,
	CHUNK_MIN = 64 << 10,
	CHUNK_MAX = 1 << 20,
	CHUNK_HEAD = 64,
	ENTRY_HEAD = sizeof(struct journal_entry),
	UNDONE = 0x4c4c5301,
	DONE,
};

/* The formats of event_journal.h, as they are in a file. */
struct header {
	char magic[8];
	uint32_t version, rings, chunks, chunk_bytes;
	uint64_t check;
};

struct chunk_head {
	uint64_t filling;
	uint32_t end;
};

struct file {
	char *bytes;
	size_t size;
	uint32_t chunk_bytes;
	struct journal_rest rest;
};

static void put_header(struct file *f, uint32_t rings, uint32_t chunks,
		       uint32_t chunk_bytes)
{
	struct header h = {"SLjournl", JOURNAL_VERSION, rings,
			   chunks,     chunk_bytes,	0};

	h.check = XXH3_64bits(&h, offsetof(struct header, check));
	memcpy(f->bytes, &h, sizeof(h));
}

/* Makes a file of this many chunks in one ring. */
static struct file make_file(uint32_t chunks, uint32_t chunk_bytes)
{
	struct file f = {.size = HEADER_SIZE + (size_t)chunks * chunk_bytes,
			 .chunk_bytes = chunk_bytes};

	f.bytes = calloc(1, f.size);
	assert_non_null(f.bytes);
	put_header(&f, 1, chunks, chunk_bytes);
	return f;
}

static void drop_file(struct file *f)
{
	journal_rest_release(&f->rest);
	free(f->bytes);
}

static char *chunk_of(struct file *f, uint32_t i)
{
	return f->bytes + HEADER_SIZE + (size_t)i * f->chunk_bytes;
}

static void end_chunk(struct file *f, uint32_t i, uint64_t filling,
		      uint32_t end)
{
	const struct chunk_head head = {filling, end};

	memcpy(chunk_of(f, i), &head, sizeof(head.filling) + sizeof(head.end));
}

/* Puts a valid entry, whatever is around it. */
static struct journal_entry *put_entry(struct file *f, uint32_t i,
				       uint64_t filling, uint32_t at,
				       int64_t time_ms, uint32_t len)
{
	struct journal_entry *e = (struct journal_entry *)(chunk_of(f, i) + at);
	const size_t from = offsetof(struct journal_entry, number);

	e->state = UNDONE;
	e->number = filling * CHUNK_MAX + at;
	e->time_ms = time_ms;
	e->len = len;
	memset(e->data, 'x', len);
	e->check = XXH3_64bits((char *)e + from, ENTRY_HEAD - from + len);
	return e;
}

static void is_read(struct file *f, size_t count, size_t damaged)
{
	struct error err = {0};

	journal_rest_release(&f->rest);
	if (journal_read(f->bytes, f->size, &f->rest, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(f->rest.count, count);
	assert_int_equal(f->rest.damaged, damaged);
}

static void is_refused(struct file *f, enum error_code code, const char *says)
{
	struct error err = {0};

	assert_int_equal(journal_read(f->bytes, f->size, &f->rest, &err), -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void what_is_undone_is_read_by_its_time(void **state)
{
	struct file f = make_file(2, CHUNK_MIN);

	(void)state;
	put_entry(&f, 0, 7, 64, 30, 10);
	put_entry(&f, 0, 7, 128, 10, 100)->state = DONE;
	put_entry(&f, 0, 7, 320, 20, 24);
	put_entry(&f, 0, 7, 384, 20, 23);
	end_chunk(&f, 0, 7, 448);
	put_entry(&f, 1, 8, 64, 5, 1);
	end_chunk(&f, 1, 8, 128);
	is_read(&f, 4, 0);
	assert_int_equal(f.rest.events[0].len, 1);
	/* Events of the same time keep their order. */
	assert_int_equal(f.rest.events[1].len, 24);
	assert_int_equal(f.rest.events[2].len, 23);
	assert_int_equal(f.rest.events[3].time_ms, 30);
	drop_file(&f);
}

static void an_entry_is_one_of_its_place_filling_and_bytes(void **state)
{
	struct file f = make_file(1, CHUNK_MIN);
	struct journal_entry *e;

	(void)state;
	end_chunk(&f, 0, 7, 192);
	put_entry(&f, 0, 7, 64, 1, 80);
	is_read(&f, 1, 0);
	put_entry(&f, 0, 6, 64, 1, 80);
	is_read(&f, 0, 1);
	put_entry(&f, 0, 7, 64, 1, 80)->data[79] = 'y';
	is_read(&f, 0, 1);
	e = put_entry(&f, 0, 7, 64, 1, 80);
	e->time_ms = 2;
	is_read(&f, 0, 1);
	/* An empty event is no event. */
	put_entry(&f, 0, 7, 64, 1, 0);
	is_read(&f, 0, 1);
	/* The entry reaches to the chunk's end, and then a byte beyond it. */
	put_entry(&f, 0, 7, 64, 1, 128 - ENTRY_HEAD);
	is_read(&f, 1, 0);
	put_entry(&f, 0, 7, 64, 1, 129 - ENTRY_HEAD);
	is_read(&f, 0, 1);
	drop_file(&f);
}

static void what_is_damaged_hides_nothing_behind_it(void **state)
{
	struct file f = make_file(2, CHUNK_MIN);

	(void)state;
	/* Two places are damaged; the second place has two entries. */
	end_chunk(&f, 0, 7, 64 * 7);
	put_entry(&f, 0, 7, 64, 1, 1)->len = 2;
	put_entry(&f, 0, 7, 128, 2, 1);
	put_entry(&f, 0, 7, 192, 3, 1)->len = 2;
	put_entry(&f, 0, 7, 256, 4, 1)->len = 2;
	put_entry(&f, 0, 7, 320, 5, 1);
	put_entry(&f, 0, 7, 384, 6, 1);
	is_read(&f, 3, 2);
	assert_int_equal(f.rest.events[0].time_ms, 2);
	/* Bytes after the end are ignored, and so is an entry in the next
	 * chunk. */
	end_chunk(&f, 0, 7, 64 * 6);
	put_entry(&f, 1, 7, 64, 9, 1);
	is_read(&f, 2, 2);
	drop_file(&f);
}

static void the_end_of_a_chunk_is_one(void **state)
{
	struct file f = make_file(1, CHUNK_MIN);

	(void)state;
	end_chunk(&f, 0, 7, 0);
	is_read(&f, 0, 0);
	end_chunk(&f, 0, 7, CHUNK_HEAD);
	is_read(&f, 0, 0);
	end_chunk(&f, 0, 7, CHUNK_MIN);
	is_read(&f, 0, 1);
	end_chunk(&f, 0, 7, CHUNK_MIN + 64);
	is_read(&f, 0, 1);
	end_chunk(&f, 0, 7, 65);
	is_read(&f, 0, 1);
	end_chunk(&f, 0, 7, 32);
	is_read(&f, 0, 1);
	/* If the end is invalid, the entries of the chunk are not read. */
	put_entry(&f, 0, 7, 64, 1, 1);
	end_chunk(&f, 0, 7, 129);
	is_read(&f, 0, 1);
	end_chunk(&f, 0, 7, CHUNK_MIN + 64);
	is_read(&f, 0, 1);
	end_chunk(&f, 0, 7, CHUNK_MIN);
	is_read(&f, 1, 1);
	drop_file(&f);
}

static void more_events_than_there_is_room_for_at_first_are_read(void **state)
{
	struct file f = make_file(1, CHUNK_MIN);

	(void)state;
	for (uint32_t i = 0; i < 600; i++)
		put_entry(&f, 0, 7, 64 + 64 * i, 1000 - i, 1);
	end_chunk(&f, 0, 7, 64 * 601);
	is_read(&f, 600, 0);
	for (uint32_t i = 0; i < 600; i++)
		assert_int_equal(f.rest.events[i].time_ms, 401 + i);
	drop_file(&f);
}

static void a_header_is_held_against_what_can_be(void **state)
{
	static const struct {
		uint32_t rings, chunks, chunk_bytes;
	} wrong[] = {
		{0, 1, CHUNK_MIN},	{4097, 1, CHUNK_MIN},
		{1, 0, CHUNK_MIN},	{1, CHUNK_MAX + 1, CHUNK_MIN},
		{1, 1, CHUNK_MIN - 64}, {1, 1, CHUNK_MAX + 64},
		{1, 1, CHUNK_MIN + 32},
	};
	struct file f = make_file(1, CHUNK_MIN);

	(void)state;
	is_read(&f, 0, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		put_header(&f, wrong[i].rings, wrong[i].chunks,
			   wrong[i].chunk_bytes);
		is_refused(&f, ERROR_DAMAGED, "its header is damaged");
	}
	/* The header is valid, but announces more than the file has. */
	put_header(&f, 4096, 1, CHUNK_MIN);
	is_refused(&f, ERROR_DAMAGED, "it has 69632 bytes instead of");
	put_header(&f, 1, CHUNK_MAX, CHUNK_MIN);
	is_refused(&f, ERROR_DAMAGED, "it has 69632 bytes instead of");
	put_header(&f, 1, 1, CHUNK_MAX);
	is_refused(&f, ERROR_DAMAGED, "it has 69632 bytes instead of 1052672");
	put_header(&f, 1, 1, CHUNK_MIN);
	f.bytes[24] = (char)~f.bytes[24];
	is_refused(&f, ERROR_DAMAGED, "its header is damaged");
	drop_file(&f);
	f = make_file(1, CHUNK_MAX);
	is_read(&f, 0, 0);
	drop_file(&f);
}

static void what_is_no_journal_is_none(void **state)
{
	struct file f = make_file(1, CHUNK_MIN);
	const size_t size = f.size;

	(void)state;
	f.size = HEADER_SIZE - 1;
	is_refused(&f, ERROR_DAMAGED, "this is no journal");
	f.size = HEADER_SIZE;
	is_refused(&f, ERROR_DAMAGED, "it has 4096 bytes instead of 69632");
	f.size = 0;
	is_read(&f, 0, 0);
	f.size = size;
	f.bytes[0] = 'X';
	is_refused(&f, ERROR_DAMAGED, "this is no journal");
	f.bytes[0] = 'S';
	f.bytes[8] = JOURNAL_VERSION + 1;
	is_refused(&f, ERROR_CONFIG, "version 2 is not known here");
	memset(f.bytes, 0, HEADER_SIZE);
	is_read(&f, 0, 0);
	f.size = 8;
	f.bytes[7] = 1;
	is_refused(&f, ERROR_DAMAGED, "this is no journal");
	drop_file(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_undone_is_read_by_its_time),
		cmocka_unit_test(
			an_entry_is_one_of_its_place_filling_and_bytes),
		cmocka_unit_test(what_is_damaged_hides_nothing_behind_it),
		cmocka_unit_test(the_end_of_a_chunk_is_one),
		cmocka_unit_test(
			more_events_than_there_is_room_for_at_first_are_read),
		cmocka_unit_test(a_header_is_held_against_what_can_be),
		cmocka_unit_test(what_is_no_journal_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
