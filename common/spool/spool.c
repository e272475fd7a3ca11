#include "common/spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/spool/position.h"
#include "common/spool/segment.h"

#define LOCK_NAME "lock"

#define SEGMENT_MIN ((int64_t)64 << 10)
#define SEGMENT_MAX ((int64_t)64 << 20)

/* Up to this many records may be marked `maybe_sent` after a kill although they
 * were not returned: the position is written ahead, not for each record. */
#define HAND_OVER_AHEAD 4096

/* The size of one write, unless a single record is larger. */
#define BLOCK_MAX ((size_t)256 << 10)

struct segment {
	uint64_t first; /* number of its first record */
	int64_t bytes;
};

struct spool {
	char *dir_name;
	int64_t max_bytes, segment_bytes;
	int dir, lock;
	bool opened;
	struct position_file position_file;
	struct spool_position position; /* current */
	struct spool_position noted;	/* the position after a loss of power */
	/* In order; at least one while there are records.  Only the last is
	 * ever written to, and only if `out` is its descriptor. */
	struct segment *segments;
	size_t count, room;
	int64_t bytes; /* bytes of all segments */

	/* State of writing. */
	int out;	  /* -1: the next record begins a segment */
	bool unsynced;	  /* records were written since spool_sync */
	int unkept;	  /* errno: syncing a segment before `out` failed */
	uint64_t next;	  /* number of the next record */
	struct buf block; /* bytes of one write */

	/* State of reading. */
	struct segment_reader reader;
	bool reading;	  /* the reader is open: */
	uint64_t segment; /* the first number of its segment */
	uint64_t read;	  /* number of the next record, damaged or not */
	bool has_ahead;	  /* `ahead` was read and not returned yet */
	struct spool_record ahead;
	uint64_t marked_below; /* earlier processes may have returned those */
};

/* --- segments ------------------------------------------------------------- */

static int add_segment(struct spool *s, uint64_t first, int64_t bytes,
		       struct error *err)
{
	if (s->count == s->room) {
		size_t room = s->room ? 2 * s->room : 16;
		struct segment *more =
			realloc(s->segments, room * sizeof(*more));

		if (!more)
			return error_set_nomem(err);
		s->segments = more;
		s->room = room;
	}
	s->segments[s->count++] = (struct segment){first, bytes};
	s->bytes += bytes;
	return 0;
}

static int compare_segments(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int list_segment(struct spool *s, const char *name, struct error *err)
{
	struct stat st;
	uint64_t first;

	if (!segment_name_parse(name, &first))
		return 0;
	if (fstatat(s->dir, name, &st, 0) < 0)
		return error_set_errno(err, "%s", name);
	return add_segment(s, first, st.st_size, err);
}

static int list_segments(struct spool *s, struct error *err)
{
	DIR *dir = opendir(s->dir_name);
	int status = 0;

	if (!dir)
		return error_set_errno(err, "cannot list it");
	for (struct dirent *e; status == 0 && (e = readdir(dir));)
		status = list_segment(s, e->d_name, err);
	closedir(dir);
	if (s->count)
		qsort(s->segments, s->count, sizeof(*s->segments),
		      compare_segments);
	return status;
}

/* Finds the number after the last record of the last segment. */
static int find_end(struct spool *s, struct error *err)
{
	struct segment_reader reader = {.fd = -1};
	struct spool_record record;
	int got;

	if (s->count == 0)
		return 0;
	s->next = s->segments[s->count - 1].first;
	if (segment_reader_open(&reader, s->dir, s->next, err) < 0)
		return -1;
	while ((got = segment_reader_next(&reader, false, &record, err)) > 0)
		if (record.number >= s->next)
			s->next = record.number + 1;
	segment_reader_close(&reader);
	segment_reader_free(&reader);
	return got;
}

/* Checks all but the last, which find_end has read. */
static int check_versions(struct spool *s, struct error *err)
{
	struct segment_reader reader = {.fd = -1};

	for (size_t i = 0; i + 1 < s->count; i++) {
		if (segment_reader_open(&reader, s->dir, s->segments[i].first,
					err) < 0)
			return -1;
		segment_reader_close(&reader);
	}
	return 0;
}

static void stop_writing(struct spool *s)
{
	if (s->out >= 0)
		close(s->out);
	s->out = -1;
}

static void stop_reading(struct spool *s)
{
	if (s->reading)
		segment_reader_close(&s->reader);
	s->reading = false;
	s->has_ahead = false;
}

/* Returns the number after the last record of a segment. */
static uint64_t end_of(const struct spool *s, size_t i)
{
	return i + 1 < s->count ? s->segments[i + 1].first : s->next;
}

/* Removes segments whose records are all done. */
static void remove_segments(struct spool *s)
{
	char name[SEGMENT_NAME_MAX];
	size_t done = 0;

	while (done < s->count && end_of(s, done) <= s->position.acknowledged)
		done++;
	if (done == 0)
		return;
	if (done == s->count)
		stop_writing(s);
	if (s->reading && s->segment <= s->segments[done - 1].first)
		stop_reading(s);
	for (size_t i = 0; i < done; i++) {
		/* A file that stays is found, and removed, at the next
		 * start. */
		unlinkat(s->dir, segment_name(s->segments[i].first, name), 0);
		s->bytes -= s->segments[i].bytes;
	}
	s->count -= done;
	memmove(s->segments, s->segments + done,
		s->count * sizeof(*s->segments));
}

/* --- opening -------------------------------------------------------------- */

static int open_folder(struct spool *s, struct error *err)
{
	if (mkdir(s->dir_name, 0700) < 0 && errno != EEXIST)
		return error_set_errno(err, "cannot make it");
	s->dir = open(s->dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return error_set_errno(err, "cannot open it");
	return 0;
}

/* The lock ends with the process, however that ends. */
static int lock_folder(struct spool *s, struct error *err)
{
	char pid[24] = "";
	int len;

	s->lock = openat(s->dir, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0)
		return error_set_errno(err, LOCK_NAME);
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return error_set_errno(err, LOCK_NAME);
		if (pread(s->lock, pid, sizeof(pid) - 1, 0) < 0)
			*pid = '\0';
		return error_set(err, ERROR_BUSY, "in use by process %.*s",
				 (int)strcspn(pid, "\n"), pid);
	}
	len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(s->lock, 0) < 0 ||
	    pwrite(s->lock, pid, (size_t)len, 0) != len)
		return error_set_errno(err, LOCK_NAME);
	return 0;
}

/* If the position cannot be read, any record may have been returned. */
static int recall_position(struct spool *s, struct error *err)
{
	bool found;

	if (position_file_open(&s->position_file, s->dir, &s->position, &found,
			       err) < 0)
		return -1;
	if (!found && s->count) {
		s->position.acknowledged = s->segments[0].first;
		s->position.handed_over = UINT64_MAX;
	}
	/* Numbers continue even if no record is left. */
	if (s->next < s->position.acknowledged)
		s->next = s->position.acknowledged;
	if (s->position.handed_over > s->next)
		s->position.handed_over = s->next;
	if (s->count && s->position.acknowledged < s->segments[0].first)
		s->position.acknowledged = s->segments[0].first;
	if (s->count == 0)
		s->position.acknowledged = s->next;
	s->marked_below = s->position.handed_over;
	s->read = s->position.acknowledged;
	return 0;
}

static int note_durably(struct spool *s, struct error *err)
{
	if (position_file_write(&s->position_file, &s->position, true, err) < 0)
		return -1;
	s->noted = s->position;
	return 0;
}

static int open_all(struct spool *s, struct error *err)
{
	if (open_folder(s, err) < 0 || lock_folder(s, err) < 0 ||
	    list_segments(s, err) < 0 || check_versions(s, err) < 0 ||
	    find_end(s, err) < 0 || recall_position(s, err) < 0)
		return -1;
	remove_segments(s);
	if (note_durably(s, err) < 0)
		return -1;
	s->opened = true;
	return 0;
}

static int64_t segment_size(const struct spool_options *options)
{
	int64_t bytes = options->max_bytes / 16;

	if (options->segment_bytes)
		return options->segment_bytes;
	if (bytes > SEGMENT_MAX)
		return SEGMENT_MAX;
	return bytes < SEGMENT_MIN ? SEGMENT_MIN : bytes;
}

struct spool *spool_open(const struct spool_options *options, struct error *err)
{
	struct spool *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->dir = s->lock = s->out = s->position_file.fd = -1;
	s->max_bytes = options->max_bytes;
	s->segment_bytes = segment_size(options);
	s->next = 1;
	s->dir_name = strdup(options->dir);
	if (!s->dir_name)
		error_set_nomem(err);
	else if (open_all(s, err) == 0)
		return s;
	error_wrap(err, "spool %s", options->dir);
	spool_free(s);
	return NULL;
}

void spool_free(struct spool *s)
{
	struct error ignored;

	if (!s)
		return;
	if (s->opened) {
		s->position.handed_over =
			s->read > s->marked_below ? s->read : s->marked_below;
		/* If this fails, records are returned again, and marked. */
		(void)spool_sync(s, &ignored);
	}
	stop_writing(s);
	stop_reading(s);
	segment_reader_free(&s->reader);
	position_file_close(&s->position_file);
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	buf_free(&s->block);
	free(s->segments);
	free(s->dir_name);
	free(s);
}

/* --- writing -------------------------------------------------------------- */

static struct segment *last_segment(struct spool *s)
{
	return &s->segments[s->count - 1];
}

/* If the sync fails, spool_sync reports it. */
static void end_segment(struct spool *s)
{
	if (fdatasync(s->out) < 0)
		s->unkept = errno;
	stop_writing(s);
}

static int begin_segment(struct spool *s, struct error *err)
{
	char name[SEGMENT_NAME_MAX];
	int fd;

	if (s->out >= 0 && last_segment(s)->bytes < s->segment_bytes)
		return 0;
	if (s->out >= 0)
		end_segment(s);
	/* Removes a segment that a failure left without a record. */
	if (s->count && last_segment(s)->first == s->next) {
		if (s->reading && s->segment == s->next)
			stop_reading(s);
		unlinkat(s->dir, segment_name(s->next, name), 0);
		s->bytes -= last_segment(s)->bytes;
		s->count--;
	}
	fd = segment_create(s->dir, s->next, err);
	if (fd < 0)
		return -1;
	if (add_segment(s, s->next, SEGMENT_HEADER_SIZE, err) < 0) {
		close(fd);
		return -1;
	}
	s->out = fd;
	return 0;
}

/* Puts as many records as this segment takes, at least one if the spool has
 * room, and returns their number. */
static size_t put_block(struct spool *s, struct spool_record *records,
			size_t count)
{
	int64_t used = last_segment(s)->bytes;
	size_t i;

	buf_empty(&s->block, 2 * BLOCK_MAX);
	for (i = 0; i < count; i++) {
		int64_t size = SPOOL_HEADER_SIZE + (int64_t)records[i].len;
		int64_t block = (int64_t)s->block.len;

		if (s->bytes + block + size > s->max_bytes ||
		    (i && (used + block + size > s->segment_bytes ||
			   (size_t)(block + size) > BLOCK_MAX)))
			break;
		records[i].number = s->next + i;
		spool_record_put(&s->block, &records[i]);
		if (s->block.failed)
			break;
	}
	return i;
}

/* Writes the block, and returns how many bytes of it are in the file. */
static size_t write_block(struct spool *s, struct error *err)
{
	int64_t at = last_segment(s)->bytes;
	size_t done = 0;

	while (done < s->block.len) {
		ssize_t wrote = pwrite(s->out, s->block.data + done,
				       s->block.len - done, at + (int64_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			error_set_errno(err, "cannot write");
			break;
		}
		done += (size_t)wrote;
	}
	return done;
}

/* Returns the number of records that are whole in `bytes` bytes; *ret_len is
 * their length. */
static size_t whole_records(const struct spool_record *records, size_t count,
			    size_t bytes, int64_t *ret_len)
{
	size_t i, len = 0;

	for (i = 0; i < count; i++) {
		size_t size = SPOOL_HEADER_SIZE + records[i].len;

		if (len + size > bytes)
			break;
		len += size;
	}
	*ret_len = (int64_t)len;
	return i;
}

static int append_some(struct spool *s, struct spool_record *records,
		       size_t count, size_t *ret_appended, struct error *err)
{
	size_t put, wrote;
	int64_t len;

	*ret_appended = 0;
	if (s->bytes + SEGMENT_HEADER_SIZE + SPOOL_HEADER_SIZE >= s->max_bytes)
		return error_set(err, ERROR_FULL, "the spool is full");
	if (begin_segment(s, err) < 0)
		return -1;
	put = put_block(s, records, count);
	if (put == 0)
		return s->block.failed ? error_set_nomem(err)
				       : error_set(err, ERROR_FULL,
						   "the spool is full");
	wrote = write_block(s, err);
	*ret_appended = whole_records(records, put, wrote, &len);
	last_segment(s)->bytes += len;
	s->bytes += len;
	s->next += *ret_appended;
	s->unsynced = true;
	if (wrote == s->block.len)
		return 0;
	/* Half a record must not remain before the next one. */
	if (ftruncate(s->out, last_segment(s)->bytes) < 0)
		end_segment(s);
	return -1;
}

int spool_append(struct spool *s, struct spool_record *records, size_t count,
		 size_t *ret_appended, struct error *err)
{
	*ret_appended = 0;
	while (*ret_appended < count) {
		size_t some;
		int status = append_some(s, records + *ret_appended,
					 count - *ret_appended, &some, err);

		*ret_appended += some;
		if (status < 0)
			return error_wrap(err, "spool %s", s->dir_name);
	}
	return 0;
}

int spool_sync(struct spool *s, struct error *err)
{
	if ((s->position.acknowledged != s->noted.acknowledged ||
	     s->position.handed_over != s->noted.handed_over) &&
	    note_durably(s, err) < 0)
		return error_wrap(err, "spool %s", s->dir_name);
	if (!s->unsynced)
		return 0;
	s->unsynced = false;
	if (s->out >= 0 && fdatasync(s->out) < 0)
		s->unkept = errno;
	if (!s->unkept)
		return 0;
	errno = s->unkept;
	s->unkept = 0;
	error_set_errno(err, "cannot write");
	return error_wrap(err, "spool %s", s->dir_name);
}

/* --- reading -------------------------------------------------------------- */

/* Returns the segment that has record `read`, or the first one after it. */
static size_t segment_to_read(const struct spool *s)
{
	size_t i = 0;

	while (i < s->count && end_of(s, i) <= s->read)
		i++;
	return i;
}

/* Finds the next readable record in the open segment. */
static int look_into_segment(struct spool *s, uint64_t end, bool grows,
			     struct error *err)
{
	struct spool_record record;
	int got;

	while ((got = segment_reader_next(&s->reader, grows, &record, err)) >
	       0) {
		/* A number outside the segment is from old bytes that look like
		 * a record. */
		if (record.number < s->read || record.number >= end)
			continue;
		s->ahead = record;
		s->has_ahead = true;
		return 1;
	}
	return got;
}

/* Returns 1 if it is open, 0 if it is gone, and with it its records. */
static int open_segment(struct spool *s, uint64_t first, struct error *err)
{
	struct error failure;

	if (s->reading && s->segment == first)
		return 1;
	stop_reading(s);
	if (segment_reader_open(&s->reader, s->dir, first, &failure) < 0) {
		if (failure.sys == ENOENT)
			return 0;
		*err = failure;
		return -1;
	}
	s->reading = true;
	s->segment = first;
	return 1;
}

/* Reads the next readable record into `ahead`; returns 1, or 0 if there is
 * none. */
static int look_ahead(struct spool *s, struct error *err)
{
	if (s->has_ahead)
		return 1;
	for (size_t i = segment_to_read(s); i < s->count; i++) {
		bool grows = i + 1 == s->count && s->out >= 0;
		int got = open_segment(s, s->segments[i].first, err);

		if (got > 0)
			got = look_into_segment(s, end_of(s, i), grows, err);
		/* The segment is opened again at the next try, so that an
		 * operator can move away one that cannot be read. */
		if (got < 0)
			stop_reading(s);
		if (got)
			return got;
	}
	return 0;
}

/* Notes, before a record is returned, that it may have been returned; a later
 * process has to know. */
static int note_handing_over(struct spool *s, uint64_t number,
			     struct error *err)
{
	uint64_t before = s->position.handed_over;

	if (number < before)
		return 0;
	s->position.handed_over = number + HAND_OVER_AHEAD;
	if (note_durably(s, err) == 0)
		return 0;
	s->position.handed_over = before;
	return -1;
}

int spool_next(struct spool *s, struct spool_record *ret, uint64_t *ret_lost,
	       struct error *err)
{
	int got = look_ahead(s, err);

	if (got > 0 && note_handing_over(s, s->ahead.number, err) < 0)
		got = -1;
	if (got < 0)
		return error_wrap(err, "spool %s", s->dir_name);
	if (got == 0) {
		*ret_lost = s->next - s->read;
		s->read = s->next;
		return 0;
	}
	*ret = s->ahead;
	ret->maybe_sent |= ret->number < s->marked_below;
	*ret_lost = ret->number - s->read;
	s->read = ret->number + 1;
	s->has_ahead = false;
	return 1;
}

uint64_t spool_next_number(const struct spool *s)
{
	return s->read;
}

void spool_acknowledge(struct spool *s, uint64_t number)
{
	struct error ignored;

	if (number <= s->position.acknowledged)
		return;
	s->position.acknowledged = number;
	/* If this fails, spool_sync writes it, or reports the error. */
	(void)position_file_write(&s->position_file, &s->position, false,
				  &ignored);
	remove_segments(s);
}

void spool_usage(struct spool *s, struct spool_usage *ret)
{
	struct error ignored;

	ret->records = s->next - s->position.acknowledged;
	ret->bytes = s->bytes;
	ret->next_ms = look_ahead(s, &ignored) > 0 ? s->ahead.time_ms : 0;
}
