#include "redirector/handover/sockets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/app/fd_store.h"
#include "common/http/address.h"
#include "common/http/unix_socket.h"

struct leftover {
	char name[INHERITED_NAME_MAX];
};

struct fds {
	int *items;
	size_t count;
};

struct sockets {
	size_t threads;
	bool own_each; /* the first sockets of the port belong to threads */
	struct fds port;
	size_t taken; /* threads' sockets that were taken */
	struct unix_socket *visitors, *handover; /* NULL: none */
	int admin;				 /* -1: none */
	bool admin_taken;
	struct fds shared, all, made, left;
	struct leftover *left_names;
};

static int add_socket(struct fds *to, int fd, struct error *err)
{
	int *more = realloc(to->items, (to->count + 1) * sizeof(*more));

	if (!more)
		return error_set_nomem(err);
	to->items = more;
	to->items[to->count++] = fd;
	return 0;
}

/* --- the port ------------------------------------------------------------- */

static bool may_be_bound_again(int fd)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &value, &len) == 0 &&
	       value;
}

static int add_or_close(struct fds *to, int fd, struct error *err)
{
	if (add_socket(to, fd, err) == 0)
		return 0;
	close(fd);
	return -1;
}

static int open_port(struct sockets *s, const char *address,
		     struct inherited *in, struct error *err)
{
	int fd;

	while ((fd = inherited_take(in, address)) >= 0) {
		if (add_or_close(&s->port, fd, err) < 0)
			return -1;
	}
	s->own_each = s->port.count == 0 || s->port.count >= s->threads ||
		      may_be_bound_again(s->port.items[0]);
	while (s->own_each && s->port.count < s->threads) {
		if (address_bind(address, true, &fd, err) < 0 ||
		    add_or_close(&s->port, fd, err) < 0 ||
		    add_socket(&s->made, fd, err) < 0)
			return -1;
	}
	return 0;
}

/* --- the others ----------------------------------------------------------- */

static bool is_ours(const char *name)
{
	return !strncmp(name, SOCKETS_NAME, strlen(SOCKETS_NAME));
}

static struct unix_socket *adopt_unix(const char *path, unsigned mode,
				      struct inherited *in, struct error *err)
{
	char name[INHERITED_NAME_MAX];
	int fd = inherited_take_unix(in, path, name);
	struct unix_socket *s;

	if (fd < 0) {
		error_set(err, ERROR_NOTFOUND, "none was inherited");
		return NULL;
	}
	s = unix_socket_adopt(path, is_ours(name) ? (int)mode : -1, fd, err);
	/* A socket unit manages its file itself. */
	if (s && !is_ours(name))
		unix_socket_disown(s);
	return s;
}

static int open_unix(struct sockets *s, const char *path, unsigned mode,
		     struct inherited *in, struct unix_socket **ret,
		     struct error *err)
{
	struct error why = {0};

	if (!path)
		return 0;
	*ret = adopt_unix(path, mode, in, &why);
	if (*ret)
		return 0;
	if (why.code != ERROR_NOTFOUND) {
		*err = why;
		return -1;
	}
	*ret = unix_socket_new(path, mode, err);
	return *ret ? add_socket(&s->made, unix_socket_fd(*ret), err) : -1;
}

static int open_admin(struct sockets *s, const char *address,
		      struct inherited *in, struct error *err)
{
	if (!address || !*address)
		return 0;
	s->admin = inherited_take(in, address);
	if (s->admin >= 0)
		return 0;
	/* The port is bound exclusively: a second program with that address
	 * fails. */
	if (address_bind(address, false, &s->admin, err) < 0)
		return error_wrap(err, "admin listener");
	return add_socket(&s->made, s->admin, err);
}

static int keep_leftover(struct sockets *s, struct inherited *in,
			 struct error *err)
{
	size_t count = inherited_count(in);

	if (count == 0)
		return 0;
	s->left_names = calloc(count, sizeof(*s->left_names));
	if (!s->left_names)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int fd = inherited_take_any(in, s->left_names[i].name);

		if (add_or_close(&s->left, fd, err) < 0)
			return -1;
	}
	return 0;
}

/* --- all of them ---------------------------------------------------------- */

static int list_shared(struct sockets *s, struct error *err)
{
	for (size_t i = s->own_each ? s->threads : 0; i < s->port.count; i++) {
		if (add_socket(&s->shared, s->port.items[i], err) < 0)
			return -1;
	}
	return s->visitors ? add_socket(&s->shared, unix_socket_fd(s->visitors),
					err)
			   : 0;
}

static int list_all(struct sockets *s, struct error *err)
{
	for (size_t i = 0; i < s->port.count; i++) {
		if (add_socket(&s->all, s->port.items[i], err) < 0)
			return -1;
	}
	if ((s->visitors &&
	     add_socket(&s->all, unix_socket_fd(s->visitors), err) < 0) ||
	    (s->handover &&
	     add_socket(&s->all, unix_socket_fd(s->handover), err) < 0))
		return -1;
	return s->admin >= 0 ? add_socket(&s->all, s->admin, err) : 0;
}

static int open_all(struct sockets *s, const struct redirector_settings *set,
		    struct inherited *in, struct error *err)
{
	if (open_port(s, set->listen, in, err) < 0 ||
	    open_admin(s, set->admin, in, err) < 0 ||
	    open_unix(s, set->listen_unix, (unsigned)redirector_unix_mode(set),
		      in, &s->visitors, err) < 0 ||
	    open_unix(s, set->handover_socket, 0600, in, &s->handover, err) < 0)
		return -1;
	if (keep_leftover(s, in, err) < 0 || list_shared(s, err) < 0)
		return -1;
	return list_all(s, err);
}

struct sockets *sockets_new(const struct redirector_settings *settings,
			    size_t threads, struct inherited *in,
			    struct error *err)
{
	struct sockets *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->threads = threads;
	s->admin = -1;
	if (open_all(s, settings, in, err) < 0) {
		sockets_free(s);
		return NULL;
	}
	return s;
}

void sockets_free(struct sockets *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->port.count; i++) {
		if (i >= s->taken)
			close(s->port.items[i]);
	}
	if (s->admin >= 0 && !s->admin_taken)
		close(s->admin);
	for (size_t i = 0; i < s->left.count; i++)
		close(s->left.items[i]);
	unix_socket_free(s->visitors);
	unix_socket_free(s->handover);
	free(s->port.items);
	free(s->shared.items);
	free(s->all.items);
	free(s->made.items);
	free(s->left.items);
	free(s->left_names);
	free(s);
}

int sockets_take_own(struct sockets *s, size_t thread)
{
	if (!s->own_each)
		return -1;
	s->taken = thread + 1;
	return s->port.items[thread];
}

int sockets_take_admin(struct sockets *s)
{
	s->admin_taken = true;
	return s->admin;
}

size_t sockets_shared(const struct sockets *s, const int **ret_fds)
{
	*ret_fds = s->shared.items;
	return s->shared.count;
}

size_t sockets_leftover(const struct sockets *s, const int **ret_fds)
{
	*ret_fds = s->left.items;
	return s->left.count;
}

void sockets_close_leftover(struct sockets *s)
{
	struct error ignored;

	for (size_t i = 0; i < s->left.count; i++) {
		const char *name = s->left_names[i].name;

		close(s->left.items[i]);
		/* A socket that stays there is closed by the next start. */
		if (is_ours(name))
			(void)fd_store_remove(name, &ignored);
	}
	s->left.count = 0;
}

int sockets_handover(const struct sockets *s)
{
	return s->handover ? unix_socket_fd(s->handover) : -1;
}

size_t sockets_all(const struct sockets *s, const int **ret_fds)
{
	*ret_fds = s->all.items;
	return s->all.count;
}

/* Names the socket by its inode number, which is unique while it is open. */
static int put_into_fd_store(int fd, struct error *err)
{
	char name[sizeof(SOCKETS_NAME) + 24];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, "a socket");
	snprintf(name, sizeof(name), SOCKETS_NAME "%" PRIuMAX,
		 (uintmax_t)st.st_ino);
	return fd_store_put(name, fd, err);
}

int sockets_store(const struct sockets *s, bool all, struct error *err)
{
	const struct fds *fds = all ? &s->all : &s->made;

	for (size_t i = 0; i < fds->count; i++) {
		if (put_into_fd_store(fds->items[i], err) < 0)
			return -1;
	}
	return 0;
}

bool sockets_are_all_inherited(const struct sockets *s)
{
	return s->made.count == 0;
}

void sockets_unlink(struct sockets *s)
{
	if (s->visitors)
		unix_socket_unlink(s->visitors);
	if (s->handover)
		unix_socket_unlink(s->handover);
}

void sockets_disown(struct sockets *s)
{
	if (s->visitors)
		unix_socket_disown(s->visitors);
	if (s->handover)
		unix_socket_disown(s->handover);
}

void sockets_close_handover(struct sockets *s)
{
	unix_socket_free(s->handover);
	s->handover = NULL;
}
