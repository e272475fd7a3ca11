#include "stack/clickhouse/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define UUID_LEN 36

/* The engine locks this file while it is open. */
static int lock_data(const char *path, int *ret_fd, struct error *err)
{
	char name[PATH_MAX];
	int fd;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_set_errno(err, "cannot make %s", path);
	snprintf(name, sizeof(name), "%s/status", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_set_errno(err, "%s", name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return error_set(err, ERROR_BUSY,
				 "%s is in use by another process", path);
	}
	*ret_fd = fd;
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type,
			struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* "db.table.<uuid>.sql": the UUID, or NULL for any other name. */
static const char *uuid_of(const char *name)
{
	static const char suffix[] = ".sql";
	size_t len = strlen(name), tail = UUID_LEN + sizeof(suffix) - 1;
	const char *uuid = name + len - tail;

	if (len <= tail || strcmp(name + len - 4, suffix) != 0)
		return NULL;
	return strspn(uuid, "0123456789abcdef-") == UUID_LEN ? uuid : NULL;
}

static int sweep_table(const char *path, const char *mark, const char *uuid,
		       struct error *err)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/store/%.3s/%.*s", path, uuid, UUID_LEN,
		 uuid);
	if (nftw(name, remove_entry, 16, FTW_DEPTH | FTW_PHYS) < 0 &&
	    errno != ENOENT)
		return error_set_errno(err, "cannot remove %s", name);
	snprintf(name, sizeof(name), "%s/metadata_dropped/%s", path, mark);
	if (unlink(name) < 0 && errno != ENOENT)
		return error_set_errno(err, "cannot remove %s", name);
	return 0;
}

int sweep_dropped(const char *path, struct error *err)
{
	char name[PATH_MAX];
	struct dirent *entry;
	int lock = -1, rc = 0;
	DIR *dir;

	if (lock_data(path, &lock, err) < 0)
		return -1;
	snprintf(name, sizeof(name), "%s/metadata_dropped", path);
	dir = opendir(name);
	while (rc == 0 && dir && (entry = readdir(dir)) != NULL) {
		const char *uuid = uuid_of(entry->d_name);

		if (uuid)
			rc = sweep_table(path, entry->d_name, uuid, err);
	}
	if (dir)
		closedir(dir);
	close(lock);
	return rc;
}
