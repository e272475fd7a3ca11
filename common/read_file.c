#include "common/read_file.h"

#include <errno.h>
#include <stdio.h>

int read_file(const char *path, size_t most, struct buf *out)
{
	FILE *file = fopen(path, "re");
	char bytes[4096];
	size_t n;
	int why;

	if (!file)
		return -1;
	while (out->len <= most &&
	       (n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buf_append(out, bytes, n);
	why = ferror(file) ? errno : 0;
	fclose(file);
	errno = why;
	return why ? -1 : 0;
}
