/* Any bytes can be in a journal after a crash of the machine or on a failing
 * disk: the events read from it are within it, in order.  From a journal with
 * some damage, no event is read that was not put, and all undamaged ones are.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redirector/counters/owned_files.h"
#include "redirector/events/event_journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	EVENTS = 50, /* events; each has its own length, and all its bytes are
			its number */
};

static char *whole; /* a journal with these events */
static size_t whole_size;

static size_t length_of(size_t event)
{
	return 1 + event * 13;
}

static void put_events(const char *dir)
{
	const struct event_journal_options options = {dir, 1, 0, 100};
	struct error err;
	struct event_journal *j = event_journal_new(&options, &err);
	char event[1 + EVENTS * 13];

	if (!j)
		abort();
	for (size_t i = 0; i < EVENTS; i++) {
		struct journal_entry *e;

		memset(event, (int)i, sizeof(event));
		e = event_journal_put(j, 0, (int64_t)i, event, length_of(i));
		if (!e)
			abort();
		/* Every third event is done. */
		if (i % 3 == 0)
			journal_entry_done(e);
	}
	event_journal_free(j);
}

static void read_whole(const char *dir)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY), fd;
	struct owned_files files;
	struct error err;
	off_t size;

	/* The journal stays, since some events are undone. */
	if (owned_files_list(folder, JOURNAL_PREFIX, &files, &err) < 0 ||
	    files.count != 1)
		abort();
	fd = owned_file_take(folder, files.names[0], &err);
	owned_files_release(&files);
	close(folder);
	size = lseek(fd, 0, SEEK_END);
	whole_size = (size_t)size;
	whole = malloc(whole_size);
	if (size <= 0 || !whole || pread(fd, whole, whole_size, 0) != size)
		abort();
	close(fd);
}

static void make_whole(void)
{
	char dir[64], command[96];

	snprintf(dir, sizeof(dir), "%s/shortloop-fuzz-journal-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(dir))
		abort();
	put_events(dir);
	read_whole(dir);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command) != 0)
		abort();
}

static void check_order(const struct journal_rest *rest, const char *bytes,
			size_t size)
{
	for (size_t i = 0; i < rest->count; i++) {
		const struct journal_event *e = &rest->events[i];

		if (e->len == 0 || e->data < bytes ||
		    e->data + e->len > bytes + size ||
		    (i && e->time_ms < e[-1].time_ms))
			abort();
	}
}

/* Reads the input as it is, and as the beginning of a journal of the right
 * size. */
static void read_any(const uint8_t *data, size_t size)
{
	size_t rest_size = size < whole_size ? size : whole_size;
	struct journal_rest rest;
	struct error err;
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	if (journal_read(copy, size, &rest, &err) == 0) {
		check_order(&rest, copy, size);
		journal_rest_release(&rest);
	}
	free(copy);
	copy = malloc(whole_size);
	memcpy(copy, whole, whole_size);
	memcpy(copy + 4096, data,
	       rest_size < whole_size - 4096 ? rest_size : whole_size - 4096);
	if (journal_read(copy, whole_size, &rest, &err) < 0)
		abort();
	check_order(&rest, copy, whole_size);
	journal_rest_release(&rest);
	free(copy);
}

static bool is_event(const struct journal_event *e)
{
	if (e->time_ms < 0 || e->time_ms >= EVENTS ||
	    e->len != length_of((size_t)e->time_ms))
		return false;
	for (size_t i = 0; i < e->len; i++)
		if (e->data[i] != (char)e->time_ms)
			return false;
	return true;
}

/* Each three bytes damage one byte, in the first chunk after its head. */
static void read_damaged_journal(const uint8_t *data, size_t size)
{
	const size_t first = 4096 + 64, span = 20000;
	char *copy = malloc(whole_size);
	struct journal_rest rest;
	size_t damaged = 0;
	struct error err;

	memcpy(copy, whole, whole_size);
	for (; size >= 3; data += 3, size -= 3) {
		size_t at = first + ((size_t)data[0] << 8 | data[1]) % span;

		damaged += data[2] != 0;
		copy[at] = (char)(copy[at] ^ data[2]);
	}
	if (journal_read(copy, whole_size, &rest, &err) < 0)
		abort();
	for (size_t i = 0; i < rest.count; i++)
		if (!is_event(&rest.events[i]))
			abort();
	/* A damaged byte costs one event, or restores one that was done. */
	if (rest.count + damaged < EVENTS - (EVENTS + 2) / 3 ||
	    rest.damaged > damaged)
		abort();
	journal_rest_release(&rest);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!whole)
		make_whole();
	read_any(data, size);
	read_damaged_journal(data, size);
	return 0;
}
