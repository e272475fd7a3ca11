#include "collector/geo/mmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <maxminddb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/geo/mmdb_tree.h"

enum {
	/* Bits of an address answered by a table instead of the tree. */
	JUMP_BITS = 16,
	JUMPS = 1 << JUMP_BITS,
	METADATA_MAX = 128 << 10, /* the specification's */
	V4_BITS = 96,		  /* in front of an IPv4 address in IPv6 */
};

struct mmdb {
	char *path;
	MMDB_s library;
	struct mmdb_tree tree;
	struct mmdb_data data;
	/* Records where the first JUMP_BITS bits of an address lead to. */
	uint32_t v4[JUMPS];
	uint32_t v6[JUMPS];
};

/* --- opening ----------------------------------------------------------- */

/* Copies the file to memory that has a name under /proc. */
static int copy_file(const char *path, struct error *err)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int copy = -1, status = -1;
	struct stat st;
	ssize_t n = 1;

	if (from < 0 || fstat(from, &st) < 0)
		goto failed;
	if (!S_ISREG(st.st_mode)) {
		error_set(err, ERROR_CONFIG, "not a regular file");
		goto out;
	}
	copy = memfd_create("geo", MFD_CLOEXEC);
	if (copy < 0)
		goto failed;
	while (n > 0)
		n = sendfile(copy, from, NULL, 1 << 24);
	if (n == 0) {
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

/* The metadata, which follow the last marker there is. */
static bool find_metadata(const uint8_t *file, size_t size,
			  struct mmdb_data *ret_metadata)
{
	static const char marker[] = "\xab\xcd\xefMaxMind.com";
	size_t first = size > METADATA_MAX ? size - METADATA_MAX : 0;
	size_t at = size;

	while (at-- > first) {
		if (size - at <= MMDB_MARKER_LEN ||
		    memcmp(file + at, marker, MMDB_MARKER_LEN) != 0)
			continue;
		at += MMDB_MARKER_LEN;
		*ret_metadata =
			(struct mmdb_data){file + at, (uint32_t)(size - at)};
		return true;
	}
	return false;
}

static uint64_t metadata_number(const struct mmdb_data *metadata,
				const char *key)
{
	struct mmdb_value map, v;
	uint64_t n;

	return mmdb_value_get(metadata, 0, &map) &&
			       mmdb_value_of_key(metadata, &map, key, &v) &&
			       mmdb_value_uint(metadata, &v, &n)
		       ? n
		       : 0;
}

/* Where tree and data lie in the file. */
static int find_parts(struct mmdb *m, const uint8_t *file, size_t size,
		      struct error *err)
{
	struct mmdb_data metadata;
	uint64_t nodes, record_bits, version, tree_size, room;

	if (!find_metadata(file, size, &metadata))
		return error_set(err, ERROR_CONFIG,
				 "no MaxMind DB, or cut short: it ends without "
				 "metadata");
	if (mmdb_check_metadata(&metadata, err) < 0)
		return -1;
	nodes = metadata_number(&metadata, "node_count");
	record_bits = metadata_number(&metadata, "record_size");
	version = metadata_number(&metadata, "ip_version");
	if (!nodes || nodes > UINT32_MAX || (version != 4 && version != 6) ||
	    (record_bits != 24 && record_bits != 28 && record_bits != 32))
		return error_set(err, ERROR_CONFIG, "broken metadata");
	tree_size = nodes * (record_bits / 4) + MMDB_SEPARATOR;
	room = size - metadata.size - MMDB_MARKER_LEN;
	if (tree_size >= room || room - tree_size > UINT32_MAX)
		return error_set(err, ERROR_CONFIG,
				 "its %llu nodes do not fit into the file",
				 (unsigned long long)nodes);
	m->tree = (struct mmdb_tree){file, (uint32_t)nodes,
				     (unsigned)record_bits, (unsigned)version};
	m->data = (struct mmdb_data){file + tree_size,
				     (uint32_t)(room - tree_size)};
	return 0;
}

/* The checks come first: the library takes the metadata at their word. */
static int check_copy(struct mmdb *m, int copy, struct error *err)
{
	struct stat st;
	void *file;
	int status = -1;

	if (fstat(copy, &st) < 0 || st.st_size == 0)
		return error_set(err, ERROR_CONFIG, "an empty file");
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, copy, 0);
	if (file == MAP_FAILED)
		return error_set_errno(err, "cannot be mapped");
	if (find_parts(m, file, (size_t)st.st_size, err) == 0)
		status = mmdb_check(&m->tree, &m->data, err);
	munmap(file, (size_t)st.st_size);
	return status;
}

static int open_copy(struct mmdb *m, int copy, struct error *err)
{
	char path[64];
	int status;

	if (check_copy(m, copy, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	status = MMDB_open(path, MMDB_MODE_MMAP, &m->library);
	if (status == MMDB_IO_ERROR && errno)
		return error_set_errno(err, "%s", path);
	if (status != MMDB_SUCCESS)
		return error_set(err, ERROR_CONFIG, "%s",
				 MMDB_strerror(status));
	return find_parts(m, m->library.file_content,
			  (size_t)m->library.file_size, err);
}

/* --- the tables of first bits ------------------------------------------ */

/* Fills what lies under the `depth` bits `prefix`, which lead to `record`. */
static void fill(const struct mmdb_tree *t, uint32_t record, unsigned depth,
		 uint32_t prefix, uint32_t *table)
{
	if (depth < JUMP_BITS && record < t->node_count) {
		for (unsigned right = 0; right < 2; right++)
			fill(t,
			     mmdb_tree_record(t->bytes, record, right,
					      t->record_bits),
			     depth + 1, prefix << 1 | right, table);
		return;
	}
	prefix <<= JUMP_BITS - depth;
	for (uint32_t i = 0; i < UINT32_C(1) << (JUMP_BITS - depth); i++)
		table[prefix + i] = record;
}

/* Where IPv4 addresses begin: behind 96 zeros in a tree of IPv6. */
static uint32_t v4_root(const struct mmdb_tree *t)
{
	uint32_t record = 0;

	if (t->ip_version == 4)
		return 0;
	for (int i = 0; i < V4_BITS && record < t->node_count; i++)
		record = mmdb_tree_record(t->bytes, record, 0, t->record_bits);
	return record;
}

static void fill_tables(struct mmdb *m)
{
	fill(&m->tree, v4_root(&m->tree), 0, 0, m->v4);
	if (m->tree.ip_version == 6)
		fill(&m->tree, 0, 0, 0, m->v6);
	else
		fill(&m->tree, m->tree.node_count, 0, 0, m->v6);
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
	fill_tables(m);
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
	if (m->library.file_content)
		MMDB_close(&m->library);
	free(m->path);
	free(m);
}

/* --- looking up -------------------------------------------------------- */

/* Follows at most `bits` of `address` from its top. */
static inline uint32_t walk(const struct mmdb_tree *t, unsigned record_bits,
			    uint32_t record, uint64_t address, unsigned bits,
			    unsigned *walked)
{
	unsigned n = 0;

	for (; n < bits && record < t->node_count; n++, address <<= 1)
		record = mmdb_tree_record(t->bytes, record,
					  (unsigned)(address >> 63),
					  record_bits);
	*walked += n;
	return record;
}

static uint32_t walk_any(const struct mmdb_tree *t, uint32_t record,
			 uint64_t address, unsigned bits, unsigned *walked)
{
	switch (t->record_bits) { /* so that the loop knows it */
	case 24:
		return walk(t, 24, record, address, bits, walked);
	case 28:
		return walk(t, 28, record, address, bits, walked);
	default:
		return walk(t, 32, record, address, bits, walked);
	}
}

static uint64_t first_bytes(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return __builtin_bswap64(word);
}

uint32_t mmdb_find(const struct mmdb *m, const uint8_t ip[16],
		   unsigned *ret_bits)
{
	const struct mmdb_tree *t = &m->tree;
	uint64_t high = first_bytes(ip), low = first_bytes(ip + 8);
	uint32_t record;

	if (high == 0 && low >> 32 == 0xffff) {
		record = m->v4[low >> JUMP_BITS & (JUMPS - 1)];
		*ret_bits = V4_BITS + JUMP_BITS;
		record = walk_any(t, record, low << (32 + JUMP_BITS),
				  32 - JUMP_BITS, ret_bits);
	} else {
		record = m->v6[high >> (64 - JUMP_BITS)];
		*ret_bits = JUMP_BITS;
		record = walk_any(t, record, high << JUMP_BITS, 64 - JUMP_BITS,
				  ret_bits);
		if (record < t->node_count)
			record = walk_any(t, record, low, 64, ret_bits);
	}
	return record > t->node_count
		       ? record - t->node_count - MMDB_SEPARATOR + 1
		       : 0;
}

unsigned mmdb_network_bits(const struct mmdb *m, const uint8_t ip[16])
{
	const struct mmdb_tree *t = &m->tree;
	uint64_t high = first_bytes(ip), low = first_bytes(ip + 8);
	bool v4 = high == 0 && low >> 32 == 0xffff;
	unsigned bits = v4 ? V4_BITS : 0;
	uint32_t record;

	if (v4) {
		walk_any(t, v4_root(t), low << 32, 32, &bits);
		return bits;
	}
	record = t->ip_version == 6 ? 0 : t->node_count;
	record = walk_any(t, record, high, 64, &bits);
	walk_any(t, record, low, 64, &bits);
	return bits;
}

const char *mmdb_path(const struct mmdb *m)
{
	return m->path;
}

size_t mmdb_bytes(const struct mmdb *m)
{
	return sizeof(*m) + (size_t)m->library.file_size;
}

const struct mmdb_data *mmdb_data(const struct mmdb *m)
{
	return &m->data;
}
