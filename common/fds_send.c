#include "common/fds_send.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

ssize_t fds_send(int to, const void *bytes, size_t len, const int *fds,
		 size_t count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FDS_SEND_MAX * sizeof(int))];
	} control = {0};
	struct iovec what = {.iov_len = len};
	struct msghdr message = {.msg_iov = &what, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (count > FDS_SEND_MAX) {
		errno = EINVAL;
		return -1;
	}
	memcpy(&what.iov_base, &bytes,
	       sizeof(bytes)); /* sendmsg only reads it */
	if (count) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(c), fds, count * sizeof(int));
	}
	return sendmsg(to, &message, MSG_NOSIGNAL);
}
