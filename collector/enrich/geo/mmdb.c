#include "collector/enrich/geo/mmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <maxminddb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/enrich/geo/mmdb_value.h"
#include "common/error.h"

/* --- checks --------------------------------------------------------------- */

/*
 * The checks that libmaxminddb 1.7 lacks, so that it is safe with any file.
 *
 * The library decodes nothing outside of the bytes that it was given.  But it
 * trusts the metadata before it knows the file's size.  It follows nested
 * values to any depth, on the stack, and pointers as often as it meets them.
 * And it reports broken data only when a search reaches it.
 *
 * check_metadata and check_database return ERROR_INPUT with the error and its
 * place.
 */

enum {
	NESTING_MAX = 32,   /* MaxMind's records nest three deep */
	VALUES_MAX = 65536, /* per record; MaxMind's have a few hundred */
	SEPARATOR = 16,	    /* zeros between tree and data */
};

struct mmdb_check {
	const MMDB_s *mmdb;
	const char *part;
	uint32_t size; /* bytes of the data */
	/* For each node: the number of address bits below it; 0: not visited
	 * yet. */
	uint8_t *heights;
	/* A bit for each byte of the data: whether the value that begins there
	 * was visited.  NULL for metadata, whose pointers lead to no nested
	 * values. */
	uint8_t *seen;
	uint32_t record_left; /* limit of further values in a record */
	/* The limit of values that may still be visited.  Each takes a byte or
	 * more, and is visited again only as part of its container; a file that
	 * overlaps its values has more. */
	uint64_t left;
	struct error *err;
};

static int broken_data(struct mmdb_check *c, uint32_t offset, const char *what)
{
	return error_set(c->err, ERROR_INPUT, "broken at byte %u of its %s: %s",
			 offset, c->part, what);
}

/* Returns false if it was visited before. */
static bool mark_value_visited(struct mmdb_check *c, uint32_t offset)
{
	uint8_t bit = (uint8_t)(1u << (offset & 7));

	if (c->seen[offset >> 3] & bit)
		return false;
	c->seen[offset >> 3] |= bit;
	return true;
}

static bool is_known(uint32_t type)
{
	return type <= MMDB_DATA_TYPE_FLOAT &&
	       type != MMDB_DATA_TYPE_CONTAINER &&
	       type != MMDB_DATA_TYPE_END_MARKER;
}

/* Checks the value at *offset and all in it, except what was visited before;
 * moves past it. */
static int check_value(struct mmdb_check *c, uint32_t *offset, unsigned depth,
		       bool is_key)
{
	uint32_t at = *offset, count, inner;
	MMDB_entry_data_s v;

	if (!mmdb_value_step(c->mmdb, offset, &v) || !is_known(v.type) ||
	    *offset > c->size || v.offset >= c->size)
		return broken_data(c, at, "no value, or a pointer to none");
	if (is_key && v.type != MMDB_DATA_TYPE_UTF8_STRING)
		return broken_data(c, at, "a key that is no text");
	if (!c->record_left-- || !c->left--)
		return broken_data(c, at, "too many values");
	count = mmdb_value_count(&v);
	if (count && v.offset != at) {
		if (!c->seen)
			return broken_data(c, at, "a pointer");
		if (!mark_value_visited(c, v.offset))
			return 0;
	}
	if (count && (depth == NESTING_MAX || count > VALUES_MAX))
		return broken_data(c, at, "nested too deep or large");
	inner = v.offset_to_next;
	for (uint32_t i = 0; i < count; i++)
		if (check_value(c, &inner, depth + 1,
				v.type == MMDB_DATA_TYPE_MAP && i % 2 == 0) < 0)
			return -1;
	if (v.offset == at && count)
		*offset = inner;
	return 0;
}

static int check_languages(struct mmdb_check *c)
{
	static const char *const path[] = {"languages", NULL};
	MMDB_entry_s start = {c->mmdb, 0};
	MMDB_entry_data_s list, v;
	uint32_t at;

	/* The list is missing or invalid: the library reports that. */
	if (MMDB_aget_value(&start, &list, path) != MMDB_SUCCESS)
		return 0;
	at = list.offset_to_next;
	for (uint32_t i = 0; i < mmdb_value_count(&list); i++) {
		uint32_t language = at;

		if (!mmdb_value_take(c->mmdb, &at, &v) ||
		    v.type != MMDB_DATA_TYPE_UTF8_STRING)
			return broken_data(c, language,
					   "a language that is no text");
	}
	return 0;
}

static int broken_node(struct mmdb_check *c, uint32_t node, const char *what)
{
	return error_set(c->err, ERROR_INPUT,
			 "broken at node %u of its tree: %s", node, what);
}

/* Checks a record that is not a node. */
static int check_leaf(struct mmdb_check *c, uint32_t node, uint64_t record)
{
	uint64_t offset = record - c->mmdb->metadata.node_count;
	uint32_t at;

	if (!offset)
		return 0;
	if (offset < SEPARATOR || offset - SEPARATOR >= c->size)
		return broken_node(c, node, "it leads nowhere");
	at = (uint32_t)offset - SEPARATOR;
	if (!mark_value_visited(c, at))
		return 0;
	c->record_left = VALUES_MAX;
	return check_value(c, &at, 0, false);
}

static int check_node(struct mmdb_check *c, uint32_t node, unsigned depth);

/* Returns the number of bits below a node's record, -1 on failure. */
static int check_branch(struct mmdb_check *c, uint32_t node, uint64_t record,
			unsigned depth)
{
	unsigned height;

	if (record >= c->mmdb->metadata.node_count)
		return check_leaf(c, node, record);
	height = c->heights[record];
	if (!height)
		return check_node(c, (uint32_t)record, depth + 1);
	return depth + 1 + height <= c->mmdb->depth
		       ? (int)height
		       : broken_node(c, node, "deeper than an address is long");
}

/* Parts of a tree may be shared (6to4 is IPv4 once more), but there must be no
 * cycles: they are longer than any address. */
static int check_node(struct mmdb_check *c, uint32_t node, unsigned depth)
{
	MMDB_search_node_s n;
	int left, right;

	if (depth == c->mmdb->depth)
		return broken_node(c, node, "deeper than an address is long");
	if (MMDB_read_node(c->mmdb, node, &n) != MMDB_SUCCESS)
		return broken_node(c, node, "it cannot be read");
	left = check_branch(c, node, n.left_record, depth);
	if (left < 0)
		return -1;
	right = check_branch(c, node, n.right_record, depth);
	if (right < 0)
		return -1;
	c->heights[node] = (uint8_t)(1 + (left > right ? left : right));
	return c->heights[node];
}

/* Checks the metadata as the data section of a database, which is how the
 * library reads them; called before MMDB_open. */
static int check_metadata(const MMDB_s *metadata, struct error *err)
{
	struct mmdb_check c = {.mmdb = metadata,
			       .part = "metadata",
			       .size = metadata->data_section_size,
			       .record_left = VALUES_MAX,
			       .left = VALUES_MAX,
			       .err = err};
	uint32_t at = 0;

	/* The library subtracts up to this number from the size. */
	if (metadata->data_section_size < 3)
		return broken_data(&c, 0, "cut short");
	return check_value(&c, &at, 0, false) < 0 ? -1 : check_languages(&c);
}

/* Checks the whole tree and everything it leads to, once: for a record that
 * leads nowhere, a cycle, an invalid value, a value nested too deep or too
 * large.  The library counts the metadata as data, too; the data end after
 * `data_size` bytes. */
static int check_database(const MMDB_s *mmdb, uint32_t data_size,
			  struct error *err)
{
	struct mmdb_check c = {.mmdb = mmdb,
			       .part = "data",
			       .size = data_size,
			       .left = VALUES_MAX + 8 * (uint64_t)data_size,
			       .err = err};
	int status = -1;

	c.heights = calloc(mmdb->metadata.node_count, 1);
	c.seen = calloc(data_size / 8 + 1, 1);
	if (!c.heights || !c.seen)
		error_set_nomem(err);
	else if (check_node(&c, 0, 0) >= 0)
		status = 0;
	free(c.heights);
	free(c.seen);
	return status;
}

/* --- opening ----------------------------------------------------------- */

enum {
	MARKER_LEN = 14,
	METADATA_MAX = 128 << 10, /* limit of the specification */
	V4_BITS = 96,		  /* bits before an IPv4 address in IPv6 */
};

struct mmdb {
	char *path;
	MMDB_s library;
	bool is_open;
};

/* Copies the file to memory that has a path under /proc. */
static int copy_file(const char *path, struct error *err)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int copy = -1, status = -1;
	struct stat st;
	ssize_t n = 1;
	off_t left;

	if (from < 0 || fstat(from, &st) < 0)
		goto failed;
	if (!S_ISREG(st.st_mode)) {
		error_set(err, ERROR_CONFIG, "not a regular file");
		goto out;
	}
	if (st.st_size > UINT32_MAX) {
		error_set(err, ERROR_CONFIG, "4 GiB or larger");
		goto out;
	}
	copy = memfd_create("geo", MFD_CLOEXEC);
	if (copy < 0)
		goto failed;
	for (left = st.st_size; left > 0 && n > 0; left -= n)
		n = sendfile(copy, from, NULL, (size_t)left);
	if (n >= 0) {
		status = 0;
		goto out;
	}
failed:
	error_set_errno(err, "cannot be read");
out:
	if (from >= 0)
		close(from);
	if (status == 0)
		return copy;
	if (copy >= 0)
		close(copy);
	return -1;
}

/* Returns where the metadata begin: after the last marker. */
static const uint8_t *find_metadata(const uint8_t *file, size_t size)
{
	static const char marker[] = "\xab\xcd\xefMaxMind.com";
	const uint8_t *at =
		size > METADATA_MAX ? file + size - METADATA_MAX : file;
	const uint8_t *found = NULL;

	while ((at = memmem(at, (size_t)(file + size - at), marker,
			    MARKER_LEN))) {
		at += MARKER_LEN;
		found = at;
	}
	return found;
}

/* Returns a number of the metadata; 0 if it is none, which the library
 * reports. */
static uint32_t metadata_number(const MMDB_s *metadata, const char *key)
{
	const char *const path[] = {key, NULL};
	MMDB_entry_s start = {metadata, 0};
	MMDB_entry_data_s v;

	if (MMDB_aget_value(&start, &v, path) != MMDB_SUCCESS)
		return 0;
	return v.type == MMDB_DATA_TYPE_UINT32	 ? v.uint32
	       : v.type == MMDB_DATA_TYPE_UINT16 ? v.uint16
						 : 0;
}

/* Checks that metadata and tree leave room for data.  This comes before the
 * library, which trusts them and counts in 32 bits. */
static int check_sizes(const uint8_t *file, size_t size,
		       uint32_t *ret_data_size, struct error *err)
{
	const uint8_t *found = find_metadata(file, size);
	MMDB_s metadata = {.data_section = found};
	uint64_t nodes, tree_size, room;

	if (!found)
		return error_set(err, ERROR_CONFIG,
				 "no MaxMind DB, or cut short: it ends without "
				 "metadata");
	metadata.data_section_size = (uint32_t)(file + size - found);
	if (check_metadata(&metadata, err) < 0)
		return -1;
	nodes = metadata_number(&metadata, "node_count");
	tree_size = nodes * (metadata_number(&metadata, "record_size") / 4) +
		    SEPARATOR;
	room = (uint64_t)(found - file) - MARKER_LEN;
	if (tree_size >= room)
		return error_set(err, ERROR_CONFIG,
				 "its %llu nodes do not fit into the file",
				 (unsigned long long)nodes);
	*ret_data_size = (uint32_t)(room - tree_size);
	return 0;
}

static int check_copy(int copy, uint32_t *ret_data_size, struct error *err)
{
	struct stat st;
	void *file;
	int status;

	if (fstat(copy, &st) < 0 || st.st_size == 0)
		return error_set(err, ERROR_CONFIG, "an empty file");
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, copy, 0);
	if (file == MAP_FAILED)
		return error_set_errno(err, "cannot be mapped");
	status = check_sizes(file, (size_t)st.st_size, ret_data_size, err);
	munmap(file, (size_t)st.st_size);
	return status;
}

static int open_copy(struct mmdb *m, int copy, struct error *err)
{
	uint32_t data_size = 0;
	char path[64];
	int status;

	if (check_copy(copy, &data_size, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	status = MMDB_open(path, MMDB_MODE_MMAP, &m->library);
	if (status == MMDB_IO_ERROR && errno)
		return error_set_errno(err, "%s", path);
	if (status == MMDB_OUT_OF_MEMORY_ERROR)
		return error_set_nomem(err);
	if (status != MMDB_SUCCESS)
		return error_set(err, ERROR_CONFIG, "broken metadata: %s",
				 MMDB_strerror(status));
	m->is_open = true;
	return check_database(&m->library, data_size, err);
}

struct mmdb *mmdb_open(const char *path, struct error *err)
{
	struct mmdb *m = calloc(1, sizeof(*m));
	int copy = -1;

	if (!m) {
		error_set_nomem(err);
		return NULL;
	}
	m->path = strdup(path);
	if (!m->path) {
		error_set_nomem(err);
		goto fail;
	}
	copy = copy_file(path, err);
	if (copy < 0 || open_copy(m, copy, err) < 0)
		goto fail;
	close(copy);
	return m;
fail:
	if (copy >= 0)
		close(copy);
	mmdb_close(m);
	error_wrap(err, "geo file: %s", path);
	if (err->code != ERROR_NOMEM)
		err->code = ERROR_CONFIG;
	return NULL;
}

void mmdb_close(struct mmdb *m)
{
	if (!m)
		return;
	if (m->is_open)
		MMDB_close(&m->library);
	free(m->path);
	free(m);
}

/* --- search --------------------------------------------------------------- */

uint32_t mmdb_find(const struct mmdb *m, const uint8_t ip[16],
		   unsigned *ret_bits)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool is_v4 = !memcmp(ip, mapped, sizeof(mapped));
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address;
	MMDB_lookup_result_s found;
	int status;

	if (is_v4) {
		address.v4.sin_family = AF_INET;
		memcpy(&address.v4.sin_addr, ip + 12, 4);
	} else {
		address.v6.sin6_family = AF_INET6;
		memcpy(&address.v6.sin6_addr, ip, 16);
	}
	found = MMDB_lookup_sockaddr(&m->library, &address.any, &status);
	*ret_bits = found.netmask;
	if (is_v4 && m->library.metadata.ip_version == 4)
		*ret_bits += V4_BITS;
	if (is_v4 && *ret_bits < V4_BITS) /* a tree may end above IPv4 */
		*ret_bits = V4_BITS;
	return status == MMDB_SUCCESS && found.found_entry
		       ? found.entry.offset + 1
		       : 0;
}

const char *mmdb_path(const struct mmdb *m)
{
	return m->path;
}

size_t mmdb_bytes(const struct mmdb *m)
{
	return sizeof(*m) + (size_t)m->library.file_size;
}

const MMDB_s *mmdb_library(const struct mmdb *m)
{
	return &m->library;
}
