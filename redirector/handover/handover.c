#include "redirector/handover/handover.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fds_send.h"
#include "redirector/handover/sockets.h"

#define MAGIC	   "SLhand1" /* unique to this version of the protocol */
#define FDS_MAX	   128	     /* maximum in one message */
#define PATIENCE_S 30
#define PEERS_MAX  16  /* connected peers that have not sent TAKE */
#define PAUSE_MS   100 /* after accept failed because descriptors ran out */
#define TRIES	   10  /* if the predecessor ends meanwhile */

enum message_kind {
	TAKE = 1,
	SOCKETS,
	END,
	SERVING,
};

/* In the host's byte order, since both processes run on one host. */
struct message {
	char magic[8];
	uint32_t kind;
	uint32_t count; /* descriptors that come with it */
	int32_t pid;	/* process id of the sender */
};

/* --- messages ------------------------------------------------------------- */

static int send_message(int to, enum message_kind kind, const int *fds,
			size_t count)
{
	struct message m = {.magic = MAGIC,
			    .kind = kind,
			    .count = (uint32_t)count,
			    .pid = (int32_t)getpid()};

	return fds_send(to, &m, sizeof(m), fds, count) == sizeof(m) ? 0 : -1;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* The caller owns the descriptors that come with it. */
static ssize_t receive_bytes(int from, struct message *m, int fds[FDS_MAX],
			     size_t *ret_count)
{
	struct iovec bytes = {.iov_base = m, .iov_len = sizeof(*m)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control = {0};
	struct msghdr msg = {.msg_iov = &bytes,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *c;
	ssize_t n = recvmsg(from, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC);

	*ret_count = 0;
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*ret_count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *ret_count * sizeof(int));
	}
	return n;
}

/* Returns -1 on failure and sets errno: EPROTO for bytes that are no message of
 * this protocol, 0 at the end of the connection. */
static int receive_message(int from, struct message *ret, int fds[FDS_MAX],
			   size_t *ret_count)
{
	ssize_t n = receive_bytes(from, ret, fds, ret_count);

	if (n == sizeof(*ret) &&
	    !memcmp(ret->magic, MAGIC, sizeof(ret->magic)) &&
	    ret->count == *ret_count)
		return 0;
	close_all(fds, *ret_count);
	if (n >= 0)
		errno = n == 0 ? 0 : EPROTO;
	return -1;
}

/* Receives a message without descriptors; true if it is of the wanted kind. */
static bool receive_expected_kind(int from, enum message_kind wanted,
				  int32_t *ret_pid)
{
	struct message m;
	int fds[FDS_MAX];
	size_t count;

	if (receive_message(from, &m, fds, &count) < 0)
		return false;
	close_all(fds, count);
	*ret_pid = m.pid;
	return m.kind == wanted && count == 0;
}

static void set_patience(int fd)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* For the successor, the credentials are those of the process that made the
 * socket; the process at the other end may have inherited it. */
static bool is_one_of_us(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* --- the successor -------------------------------------------------------- */

struct predecessor {
	int fd;
	pid_t pid;
};

/* Returns -1 on failure; ERROR_NOTFOUND: no process listens there. */
static int connect_to(const char *path, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return error_set_errno(err, "cannot make a socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	set_patience(fd);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (errno == ENOENT || errno == ECONNREFUSED)
		error_set(err, ERROR_NOTFOUND, "no process listens at %s",
			  path);
	else
		error_set_errno(err, "cannot connect to %s", path);
	close(fd);
	return -1;
}

/* All that a predecessor has sent; used only when it is complete. */
struct received {
	int *fds;
	size_t count;
};

/* Takes ownership of `fds`, also on failure. */
static int received_add(struct received *r, const int *fds, size_t count,
			struct error *err)
{
	int *more = realloc(r->fds, (r->count + count) * sizeof(*more) + 1);

	if (!more) {
		close_all(fds, count);
		return error_set_nomem(err);
	}
	r->fds = more;
	memcpy(r->fds + r->count, fds, count * sizeof(*fds));
	r->count += count;
	return 0;
}

static int received_hand_on(struct received *r, struct inherited *into,
			    struct error *err)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < r->count; i++) {
		int fd = r->fds[i];

		r->fds[i] = -1;
		status = inherited_add(into, fd, SOCKETS_NAME, err);
	}
	return status;
}

static void received_end(struct received *r)
{
	close_all(r->fds, r->count);
	free(r->fds);
}

static int no_answer(const char *path, struct error *err)
{
	/* The predecessor ended, and closed its socket, while this process
	 * waited for its turn. */
	if (errno == ECONNRESET || errno == EPIPE)
		return error_set_retriable(
			err, ERROR_NOTFOUND,
			"the process that listened at %s has ended", path);
	if (errno == EAGAIN || errno == 0)
		return error_set_retriable(
			err, ERROR_BUSY,
			"the process at %s does not hand its sockets over, or "
			"hands them to another process",
			path);
	return error_set(err, ERROR_PROTOCOL,
			 "the process at %s does not hand over as this version "
			 "does: end it first",
			 path);
}

/* Waits for the first byte: other successors may be served before. */
static int await_turn(int fd, int64_t turn_ms)
{
	struct pollfd answer = {.fd = fd, .events = POLLIN};
	int n;

	do
		n = poll(&answer, 1, turn_ms > 0 ? (int)turn_ms : 0);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = EAGAIN;
	return n > 0 ? 0 : -1;
}

static int receive_sockets(struct predecessor *p, const char *path,
			   struct received *ret, struct error *err)
{
	int64_t until = clock_monotonic_ms() + PATIENCE_S * CLOCK_SECOND;
	struct message m;
	int fds[FDS_MAX];
	size_t count;

	do {
		/* One deadline for all messages. */
		if (await_turn(p->fd, until - clock_monotonic_ms()) < 0 ||
		    receive_message(p->fd, &m, fds, &count) < 0)
			return no_answer(path, err);
		if (received_add(ret, fds, count, err) < 0)
			return -1;
	} while (m.kind == SOCKETS);
	p->pid = m.pid;
	return 0;
}

static int take_sockets(struct predecessor *p, const char *path,
			int64_t turn_ms, struct inherited *into,
			struct error *err)
{
	struct received all = {0};
	int status;

	if (send_message(p->fd, TAKE, NULL, 0) < 0 ||
	    await_turn(p->fd, turn_ms) < 0)
		return no_answer(path, err);
	status = receive_sockets(p, path, &all, err);
	if (status == 0)
		status = received_hand_on(&all, into, err);
	received_end(&all);
	return status;
}

static int request_sockets(struct predecessor *p, const char *path,
			   int64_t turn_ms, struct inherited *into,
			   struct error *err)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = connect_to(path, err);
	if (p->fd < 0)
		return -1;
	if (!is_one_of_us(p->fd))
		return error_set(err, ERROR_UNSAFE, "%s is another user's",
				 path);
	return take_sockets(p, path, turn_ms, into, err);
}

int predecessor_find(const char *path, int64_t turn_ms, struct inherited *into,
		     struct predecessor **ret, struct error *err)
{
	struct predecessor *p = calloc(1, sizeof(*p));
	struct error why = {0};
	int status = -1, tries = 0;

	*ret = NULL;
	if (!p)
		return error_set_nomem(err);
	p->fd = -1;
	do
		status = request_sockets(p, path, turn_ms, into, &why);
	while (status < 0 && p->fd >= 0 && why.code == ERROR_NOTFOUND &&
	       ++tries < TRIES);
	if (status == 0) {
		*ret = p;
		return 0;
	}
	if (p->fd < 0 && why.code == ERROR_NOTFOUND)
		status = 0;
	else
		*err = why;
	predecessor_free(p);
	return status;
}

pid_t predecessor_pid(const struct predecessor *p)
{
	return p->pid;
}

void predecessor_relieve(struct predecessor *p)
{
	(void)send_message(p->fd, SERVING, NULL, 0);
}

void predecessor_free(struct predecessor *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

/* --- the predecessor ------------------------------------------------------ */

struct peer {
	int fd;
	int64_t until; /* deadline, by clock_monotonic_ms */
};

struct handover {
	int listening, wake;
	const int *fds;
	size_t count;
	void (*on_relieved)(void *arg);
	void *arg;
	struct log *log;
	/* Peers that have sent nothing so far, in the order in which they
	 * came. */
	struct peer peers[PEERS_MAX];
	size_t peer_count;
	pthread_t thread;
	bool runs;
	atomic_bool ending;
	bool lent; /* used by the thread; after it, by handover_end */
};

/* Returns false on a timeout, or if the thread is to end. */
static bool wait_for(const struct handover *h, int fd, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = h->wake, .events = POLLIN},
			       {.fd = fd, .events = POLLIN}};
	int n;

	do
		n = poll(fds, 2, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n > 0 && !fds[0].revents;
}

static int send_sockets(const struct handover *h, int to)
{
	for (size_t i = 0; i < h->count; i += FDS_MAX) {
		size_t n = h->count - i < FDS_MAX ? h->count - i : FDS_MAX;

		if (send_message(to, SOCKETS, h->fds + i, n) < 0)
			return -1;
	}
	return send_message(to, END, NULL, 0);
}

/* Returns true if the successor serves in place of this process. */
static bool hand_to(struct handover *h, int successor)
{
	int32_t pid = 0;

	set_patience(successor);
	if (!receive_expected_kind(successor, TAKE, &pid))
		return false;
	log_info(h->log, "handing sockets over", log_int("pid", pid));
	h->lent = true;
	if (send_sockets(h, successor) < 0)
		h->lent = false;
	else if (!wait_for(h, successor, -1))
		return false; /* the successor may still begin to serve */
	else if (receive_expected_kind(successor, SERVING, &pid))
		return true;
	h->lent = false;
	log_warn(h->log, "the successor has ended, going on",
		 log_int("pid", pid));
	return false;
}

/* Returns false if the thread is to end. */
static bool await_begin(struct handover *h)
{
	uint64_t count;

	(void)wait_for(h, -1, -1);
	/* A later handover_end wakes the thread again; an earlier one has set
	 * `ending`. */
	return read(h->wake, &count, sizeof(count)) == sizeof(count) &&
	       !atomic_load(&h->ending);
}

/* --- connected peers ---
 * Each may take its time to send TAKE, and does not delay the others. */

/* Removes a peer; the caller closes the descriptor that is returned. */
static int take_peer(struct handover *h, size_t i)
{
	int fd = h->peers[i].fd;

	h->peer_count--;
	memmove(&h->peers[i], &h->peers[i + 1],
		(h->peer_count - i) * sizeof(*h->peers));
	return fd;
}

static void leave_peer(struct handover *h, size_t i, const char *why)
{
	int fd = take_peer(h, i);
	struct ucred who = {0};
	socklen_t len = sizeof(who);

	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	log_warn(h->log, "hand-over: a peer was left", log_str("error", why),
		 log_int("pid", who.pid));
	close(fd);
}

static void accept_peer(struct handover *h)
{
	int fd = accept4(h->listening, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		(void)wait_for(h, -1, PAUSE_MS);
		return;
	}
	if (!is_one_of_us(fd)) {
		log_warn(h->log, "another user requested the sockets");
		close(fd);
		return;
	}
	if (h->peer_count == PEERS_MAX)
		leave_peer(h, 0, "it said nothing, and too many wait");
	h->peers[h->peer_count++] = (struct peer){
		fd, clock_monotonic_ms() + PATIENCE_S * CLOCK_SECOND};
}

/* Messages are sent in one piece, and arrive so.  Returns true if one is there;
 * a peer that only checked whether a process listens is closed. */
static bool has_asked(struct handover *h, size_t i)
{
	char bytes[sizeof(struct message)];
	ssize_t n = recv(h->peers[i].fd, bytes, sizeof(bytes),
			 MSG_PEEK | MSG_DONTWAIT);

	if (n == (ssize_t)sizeof(bytes))
		return true;
	if (n > 0)
		leave_peer(h, i, "what it sent is no message");
	else
		close(take_peer(h, i));
	return false;
}

static void leave_late_peers(struct handover *h)
{
	int64_t now = clock_monotonic_ms();

	while (h->peer_count && h->peers[0].until <= now)
		leave_peer(h, 0, "it said nothing for 30 s");
}

/* Returns the timeout for poll; -1: none. */
static int until_a_peer_is_late(const struct handover *h)
{
	int64_t left;

	if (!h->peer_count)
		return -1;
	left = h->peers[0].until - clock_monotonic_ms();
	return left > 0 ? (int)left : 0;
}

enum {
	WAKE,
	LISTENING,
	FIRST_PEER
};

/* Returns the first peer that poll has found and that has sent TAKE; -1:
 * none. */
static int look_at_peers(struct handover *h, const struct pollfd *fds)
{
	size_t count = h->peer_count, left = 0;

	/* Peers that were closed have moved the later ones forward. */
	for (size_t i = 0; i < count; i++) {
		if (!fds[FIRST_PEER + i].revents)
			continue;
		if (has_asked(h, i - left))
			return take_peer(h, i - left);
		left++;
	}
	return -1;
}

/* Returns the next successor, or -1 when the thread is to end. */
static int await_successor(struct handover *h)
{
	struct pollfd fds[FIRST_PEER + PEERS_MAX];
	int successor, n;

	for (;;) {
		fds[WAKE] = (struct pollfd){.fd = h->wake, .events = POLLIN};
		fds[LISTENING] =
			(struct pollfd){.fd = h->listening, .events = POLLIN};
		for (size_t i = 0; i < h->peer_count; i++)
			fds[FIRST_PEER + i] = (struct pollfd){
				.fd = h->peers[i].fd, .events = POLLIN};
		n = poll(fds, FIRST_PEER + h->peer_count,
			 until_a_peer_is_late(h));
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0 && fds[WAKE].revents)
			return -1;
		successor = n > 0 ? look_at_peers(h, fds) : -1;
		if (successor >= 0)
			return successor;
		leave_late_peers(h);
		if (n > 0 && fds[LISTENING].revents)
			accept_peer(h);
	}
}

static void *run_handover_thread(void *arg)
{
	struct handover *h = arg;
	int successor;
	bool relieved = false;

	if (!await_begin(h))
		return NULL;
	while (!relieved && (successor = await_successor(h)) >= 0) {
		relieved = hand_to(h, successor);
		close(successor);
	}
	/* Peers that have sent TAKE meanwhile see the close, and connect to the
	 * next process. */
	while (h->peer_count)
		close(take_peer(h, 0));
	if (relieved)
		h->on_relieved(h->arg);
	return NULL;
}

struct handover *handover_new(int listening, const int *fds, size_t count,
			      void (*on_relieved)(void *arg), void *arg,
			      struct log *log, struct error *err)
{
	struct handover *h = calloc(1, sizeof(*h));

	if (!h) {
		error_set_nomem(err);
		return NULL;
	}
	*h = (struct handover){.listening = listening,
			       .fds = fds,
			       .count = count,
			       .on_relieved = on_relieved,
			       .arg = arg,
			       .log = log};
	h->wake = eventfd(0, EFD_CLOEXEC);
	if (h->wake < 0) {
		error_set_errno(err, "eventfd");
		goto fail;
	}
	errno = pthread_create(&h->thread, NULL, run_handover_thread, h);
	if (errno) {
		error_set_errno(err, "cannot start a thread");
		goto fail;
	}
	h->runs = true;
	return h;
fail:
	handover_free(h);
	return NULL;
}

static bool wake_handover_thread(struct handover *h)
{
	uint64_t one = 1;

	return write(h->wake, &one, sizeof(one)) == sizeof(one);
}

void handover_begin(struct handover *h)
{
	(void)wake_handover_thread(h);
}

bool handover_end(struct handover *h)
{
	atomic_store(&h->ending, true);
	if (h->runs && wake_handover_thread(h))
		pthread_join(h->thread, NULL);
	h->runs = false;
	return h->lent;
}

void handover_free(struct handover *h)
{
	if (!h)
		return;
	handover_end(h);
	if (h->wake >= 0)
		close(h->wake);
	free(h);
}
