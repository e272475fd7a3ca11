#include "collector/enrich/geo/mmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/enrich/geo/mmdb_check.h"

enum {
	MARKER_LEN = 14,
	METADATA_MAX = 128 << 10, /* the specification's */
	SEPARATOR = 16,		  /* zeros between tree and data */
	V4_BITS = 96,		  /* in front of an IPv4 address in IPv6 */
};

struct mmdb {
	char *path;
	MMDB_s library;
	bool is_open;
};

/* --- opening ----------------------------------------------------------- */

/* Copies the file to memory that has a name under /proc. */
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

/* Where the metadata begin: behind the last marker there is. */
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

/* A number of the metadata; 0 when it is none, which the library tells. */
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

/* Do metadata and tree leave room for data?  It is asked before the library,
 * which takes them at their word and counts in 32 bits. */
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
	if (mmdb_check_metadata(&metadata, err) < 0)
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
	return mmdb_check(&m->library, data_size, err);
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

/* --- looking up -------------------------------------------------------- */

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
