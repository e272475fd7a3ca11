#include "common/boot_id.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void boot_id(char ret[BOOT_ID_MAX])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, ret, BOOT_ID_MAX - 1);
	size_t len = got > 0 ? (size_t)got : 0;

	memset(ret + len, 0, BOOT_ID_MAX - len);
	if (fd >= 0)
		close(fd);
}
