#include "redirector/events/event_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include <xxhash.h>

#include "redirector/counters/owned_files.h"

enum {
	FILE_HEADER_SIZE = 4096,
	ALIGNMENT = 64, /* no two entries share a cache line */
	CHUNK_MIN = 64 << 10,
	CHUNK_MAX = 1 << 20,
	CHUNKS_MIN = 2,
	RINGS_MAX = 4096,
	CHUNKS_MAX = 1 << 20,
	/* After a search found no free chunk, this many events pass without
	 * another search, since a search goes over all chunks. */
	PAUSE_EVENTS = 64,
};

enum journal_entry_state {
	/* The entry is written, or being written, and not done. */
	ENTRY_UNDONE = 0x4c4c5301,
	ENTRY_DONE,
};

static const char magic[8] = "SLjournl";

struct journal_header {
	char magic[8];
	uint32_t version;
	uint32_t rings, chunks, chunk_bytes;
	uint64_t check; /* covers all that is above */
};

/* `end` is in bytes from the chunk's start, and grows; before it lie
 * entries. */
struct chunk {
	uint64_t filling; /* number of this filling of the ring, from 1 on */
	_Atomic uint32_t end;
	char unused[ALIGNMENT - 12];
};

#define CHUNK_HEAD (sizeof(struct chunk))
#define ENTRY_HEAD (sizeof(struct journal_entry))
/* Offset of the checked part of an entry. */
#define ENTRY_CHECKED (offsetof(struct journal_entry, number))

_Static_assert(offsetof(struct journal_entry, data) == ENTRY_HEAD,
	       "events lie behind the head");
_Static_assert(sizeof(struct chunk) == ALIGNMENT, "entries lie aligned");
_Static_assert(sizeof(struct journal_header) <= FILE_HEADER_SIZE, "it fits");

static size_t entry_size(size_t len)
{
	return (ENTRY_HEAD + len + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t entry_check(const struct journal_entry *e, size_t len)
{
	return XXH3_64bits((const char *)e + ENTRY_CHECKED,
			   ENTRY_HEAD - ENTRY_CHECKED + len);
}

static uint64_t entry_number(uint64_t filling, uint32_t at)
{
	return filling * CHUNK_MAX + at;
}

void journal_entry_done(struct journal_entry *entry)
{
	/* Release: reads of the entry happen before it is marked. */
	atomic_store_explicit(&entry->state, ENTRY_DONE, memory_order_release);
}

/* --- reading -------------------------------------------------------------- */

static uint64_t header_check(const struct journal_header *h)
{
	return XXH3_64bits(h, offsetof(struct journal_header, check));
}

static uint64_t file_size(const struct journal_header *h)
{
	return FILE_HEADER_SIZE +
	       (uint64_t)h->rings * h->chunks * h->chunk_bytes;
}

static bool is_sane(const struct journal_header *h)
{
	return h->rings >= 1 && h->rings <= RINGS_MAX && h->chunks >= 1 &&
	       h->chunks <= CHUNKS_MAX && h->chunk_bytes >= CHUNK_MIN &&
	       h->chunk_bytes <= CHUNK_MAX && h->chunk_bytes % ALIGNMENT == 0;
}

static int check_header(const struct journal_header *h, size_t size,
			struct error *err)
{
	if (memcmp(h->magic, magic, sizeof(magic)) != 0)
		return error_set(err, ERROR_DAMAGED, "this is no journal");
	if (h->version != JOURNAL_VERSION)
		return error_set(err, ERROR_CONFIG,
				 "version %u is not known here", h->version);
	if (h->check != header_check(h) || !is_sane(h))
		return error_set(err, ERROR_DAMAGED, "its header is damaged");
	if (file_size(h) != size)
		return error_set(err, ERROR_DAMAGED,
				 "it has %zu bytes instead of %llu", size,
				 (unsigned long long)file_size(h));
	return 0;
}

/* A file is empty, or all zeros, until its header is written. */
static bool has_begun(const void *bytes, size_t size)
{
	static const struct journal_header none;

	return size > 0 &&
	       (size < sizeof(none) || memcmp(bytes, &none, sizeof(none)) != 0);
}

struct journal_reading {
	struct journal_rest *rest;
	size_t room;
};

static int add_event(struct journal_reading *r, const struct journal_entry *e,
		     struct error *err)
{
	struct journal_rest *rest = r->rest;

	if (rest->count == r->room) {
		size_t room = r->room ? 2 * r->room : 256;
		struct journal_event *more =
			realloc(rest->events, room * sizeof(*more));

		if (!more)
			return error_set_nomem(err);
		rest->events = more;
		r->room = room;
	}
	rest->events[rest->count++] =
		(struct journal_event){e->time_ms, e->data, e->len};
	return 0;
}

static bool is_entry(const struct journal_entry *e, uint64_t number,
		     size_t room)
{
	return e->number == number && e->len > 0 &&
	       e->len <= room - ENTRY_HEAD &&
	       e->check == entry_check(e, e->len);
}

/* Skips damaged bytes up to the next entry, and counts each stretch of them. */
static int read_chunk(struct journal_reading *r, const char *bytes,
		      uint32_t chunk_bytes, struct error *err)
{
	const struct chunk *c = (const struct chunk *)bytes;
	uint32_t end = atomic_load_explicit(&c->end, memory_order_relaxed);
	bool damaged = false;
	uint32_t at = CHUNK_HEAD;

	if (end > chunk_bytes || end % ALIGNMENT) {
		r->rest->damaged++;
		return 0;
	}
	while (at < end) {
		const struct journal_entry *e =
			(const struct journal_entry *)(bytes + at);

		if (!is_entry(e, entry_number(c->filling, at), end - at)) {
			r->rest->damaged += !damaged;
			damaged = true;
			at += ALIGNMENT;
			continue;
		}
		damaged = false;
		at += (uint32_t)entry_size(e->len);
		if (atomic_load_explicit(&e->state, memory_order_relaxed) !=
			    ENTRY_DONE &&
		    add_event(r, e, err) < 0)
			return -1;
	}
	return 0;
}

/* Orders by time, and events of one time by their place. */
static int compare_events(const void *a, const void *b)
{
	const struct journal_event *x = a, *y = b;

	if (x->time_ms != y->time_ms)
		return x->time_ms < y->time_ms ? -1 : 1;
	return (x->data > y->data) - (x->data < y->data);
}

static int read_chunks(const char *bytes, const struct journal_header *h,
		       struct journal_rest *rest, struct error *err)
{
	struct journal_reading r = {rest, 0};
	size_t count = (size_t)h->rings * h->chunks;

	for (size_t i = 0; i < count; i++)
		if (read_chunk(&r,
			       bytes + FILE_HEADER_SIZE + i * h->chunk_bytes,
			       h->chunk_bytes, err) < 0)
			return -1;
	if (rest->count)
		qsort(rest->events, rest->count, sizeof(*rest->events),
		      compare_events);
	return 0;
}

int journal_read(const void *bytes, size_t size, struct journal_rest *ret,
		 struct error *err)
{
	struct journal_rest rest = {0};
	struct journal_header h;

	if (!has_begun(bytes, size)) {
		*ret = rest;
		return 0;
	}
	if (size < FILE_HEADER_SIZE)
		return error_set(err, ERROR_DAMAGED, "this is no journal");
	memcpy(&h, bytes, sizeof(h));
	if (check_header(&h, size, err) < 0)
		return -1;
	if (read_chunks(bytes, &h, &rest, err) < 0) {
		journal_rest_release(&rest);
		return -1;
	}
	*ret = rest;
	return 0;
}

void journal_rest_release(struct journal_rest *rest)
{
	free(rest->events);
	*rest = (struct journal_rest){0};
}

/* Uses pwrite rather than a mapping: on a full disk, with a file system that
 * copies what it overwrites, a store into a mapping would end the process. */
void journal_mark_done(int fd, const void *bytes,
		       const struct journal_event *events, size_t count)
{
	const uint32_t done = ENTRY_DONE;

	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)(events[i].data - (const char *)bytes) -
			    ENTRY_HEAD + offsetof(struct journal_entry, state);

		if (pwrite(fd, &done, sizeof(done), (off_t)at) != sizeof(done))
			return;
	}
}

/* --- a journal ------------------------------------------------------------ */

/* The chunks of one thread; no other thread uses it. */
struct ring {
	char *chunks;
	uint64_t filling;
	uint32_t current, end; /* the chunk being filled, and its used bytes */
	unsigned pause;	       /* events until the next search for a chunk */
	/* Per chunk: the entries before this offset are known to be done. */
	uint32_t *done;
};

struct event_journal {
	int dir, fd;
	char name[OWNED_NAME_SIZE];
	struct journal_header header;
	char *bytes; /* mapped; NULL: not yet */
	struct ring *rings;
};

static uint32_t chunk_bytes_for(size_t event_max)
{
	uint32_t bytes = CHUNK_MIN;

	while (bytes < CHUNK_MAX && bytes / 4 < entry_size(event_max))
		bytes *= 2;
	return bytes;
}

static void make_header(struct event_journal *j,
			const struct event_journal_options *o)
{
	struct journal_header *h = &j->header;
	int64_t chunks;

	memcpy(h->magic, magic, sizeof(magic));
	h->version = JOURNAL_VERSION;
	h->rings = (uint32_t)o->rings;
	h->chunk_bytes = chunk_bytes_for(o->event_max);
	chunks = o->bytes / (int64_t)o->rings / h->chunk_bytes;
	if (chunks < CHUNKS_MIN)
		chunks = CHUNKS_MIN;
	if (chunks > CHUNKS_MAX)
		chunks = CHUNKS_MAX;
	h->chunks = (uint32_t)chunks;
	h->check = header_check(h);
}

static int make_rings(struct event_journal *j, struct error *err)
{
	j->rings = calloc(j->header.rings, sizeof(*j->rings));
	if (!j->rings)
		return error_set_nomem(err);
	for (size_t i = 0; i < j->header.rings; i++) {
		struct ring *r = &j->rings[i];

		r->done = calloc(j->header.chunks, sizeof(*r->done));
		if (!r->done)
			return error_set_nomem(err);
		/* The ring begins as if it were full: the first event searches
		 * a chunk. */
		r->end = j->header.chunk_bytes;
	}
	return 0;
}

static int check_count(int dir, struct error *err)
{
	struct owned_files files;
	size_t count;

	if (owned_files_list(dir, JOURNAL_PREFIX, &files, err) < 0)
		return -1;
	count = files.count;
	owned_files_release(&files);
	if (count < JOURNAL_FILES_MAX)
		return 0;
	return error_set_retriable(
		err, ERROR_BUSY,
		"there are %zu journals of killed processes that the owner of "
		"the folder has not taken yet",
		count);
}

static int make_name(struct event_journal *j, struct error *err)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return error_set_errno(err, "random bytes");
	snprintf(j->name, sizeof(j->name), JOURNAL_PREFIX "%016" PRIx64,
		 number);
	return 0;
}

/* Until its header is written, the file counts as empty. */
static int map_journal(struct event_journal *j, struct error *err)
{
	void *at;

	if (owned_file_map(j->fd, (size_t)file_size(&j->header), &at, err) < 0)
		return -1;
	j->bytes = at;
	for (size_t i = 0; i < j->header.rings; i++)
		j->rings[i].chunks =
			j->bytes + FILE_HEADER_SIZE +
			i * j->header.chunks * (size_t)j->header.chunk_bytes;
	memcpy(j->bytes, &j->header, sizeof(j->header));
	return 0;
}

static int make_file(struct event_journal *j, struct error *err)
{
	if (check_count(j->dir, err) < 0 || make_name(j, err) < 0)
		return -1;
	j->fd = owned_file_make(j->dir, j->name, err);
	return j->fd < 0 || map_journal(j, err) < 0
		       ? error_wrap(err, "%s", j->name)
		       : 0;
}

struct event_journal *
event_journal_new(const struct event_journal_options *options,
		  struct error *err)
{
	struct event_journal *j = calloc(1, sizeof(*j));

	if (!j) {
		error_set_nomem(err);
		return NULL;
	}
	j->fd = -1;
	make_header(j, options);
	j->dir = open(options->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->dir < 0)
		error_set_errno(err, "cannot open the folder");
	else if (make_rings(j, err) == 0 && make_file(j, err) == 0)
		return j;
	error_wrap(err, "%s", options->dir);
	event_journal_free(j);
	return NULL;
}

/* --- putting -------------------------------------------------------------- */

static char *chunk_at(const struct event_journal *j, const struct ring *r,
		      uint32_t i)
{
	return r->chunks + (size_t)i * j->header.chunk_bytes;
}

/* Continues at the entry that was not done at the last call. */
static bool is_done(const struct event_journal *j, struct ring *r, uint32_t i)
{
	const char *bytes = chunk_at(j, r, i);
	const struct chunk *c = (const struct chunk *)bytes;
	uint32_t end = atomic_load_explicit(&c->end, memory_order_relaxed);

	if (r->done[i] == 0)
		r->done[i] = CHUNK_HEAD;
	while (r->done[i] < end) {
		const struct journal_entry *e =
			(const struct journal_entry *)(bytes + r->done[i]);

		if (atomic_load_explicit(&e->state, memory_order_acquire) !=
		    ENTRY_DONE)
			return false;
		r->done[i] += (uint32_t)entry_size(e->len);
	}
	return true;
}

static void begin_chunk(const struct event_journal *j, struct ring *r,
			uint32_t i)
{
	struct chunk *c = (struct chunk *)chunk_at(j, r, i);

	/* Sets `end` to 0 meanwhile, so that entries of one filling are never
	 * read as those of another. */
	atomic_store_explicit(&c->end, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	c->filling = ++r->filling;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&c->end, CHUNK_HEAD, memory_order_relaxed);
	r->current = i;
	r->end = CHUNK_HEAD;
	r->done[i] = 0;
}

/* Returns false if all chunks have undone entries. */
static bool next_chunk(const struct event_journal *j, struct ring *r)
{
	if (r->pause) {
		r->pause--;
		return false;
	}
	for (uint32_t i = 0; i < j->header.chunks; i++) {
		if (!is_done(j, r, i))
			continue;
		begin_chunk(j, r, i);
		return true;
	}
	r->pause = PAUSE_EVENTS;
	return false;
}

/* A kill ends a thread between two instructions, and all that was written
 * before is in the file: so it is enough that the compiler keeps the order. */
static struct journal_entry *write_entry(struct chunk *c, uint32_t at,
					 int64_t time_ms, const void *event,
					 size_t len)
{
	struct journal_entry *e = (struct journal_entry *)((char *)c + at);

	atomic_store_explicit(&e->state, ENTRY_UNDONE, memory_order_relaxed);
	e->number = entry_number(c->filling, at);
	e->time_ms = time_ms;
	e->len = (uint32_t)len;
	e->zero = 0;
	memcpy(e->data, event, len);
	e->check = entry_check(e, len);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&c->end, at + (uint32_t)entry_size(len),
			      memory_order_relaxed);
	return e;
}

struct journal_entry *event_journal_put(struct event_journal *j, size_t ring,
					int64_t time_ms, const void *event,
					size_t len)
{
	struct ring *r = &j->rings[ring];
	size_t size = entry_size(len);
	struct journal_entry *e;

	if (len == 0 || size > j->header.chunk_bytes - CHUNK_HEAD)
		return NULL;
	if (r->end + size > j->header.chunk_bytes && !next_chunk(j, r))
		return NULL;
	e = write_entry((struct chunk *)chunk_at(j, r, r->current), r->end,
			time_ms, event, len);
	r->end += (uint32_t)size;
	return e;
}

/* --- the end -------------------------------------------------------------- */

static bool has_undone(const struct event_journal *j)
{
	for (size_t i = 0; i < j->header.rings; i++)
		for (uint32_t k = 0; k < j->header.chunks; k++)
			if (!is_done(j, &j->rings[i], k))
				return true;
	return false;
}

static void leave_file(struct event_journal *j)
{
	if (!j->bytes || !has_undone(j))
		unlinkat(j->dir, j->name, 0);
	if (j->bytes)
		munmap(j->bytes, (size_t)file_size(&j->header));
	close(j->fd);
}

void event_journal_free(struct event_journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		leave_file(j);
	if (j->dir >= 0)
		close(j->dir);
	for (size_t i = 0; j->rings && i < j->header.rings; i++)
		free(j->rings[i].done);
	free(j->rings);
	free(j);
}
