#include "tests/model/stepper.h"

#include "tests/unit/unit.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/buf.h"

#define PAIRS 8

struct pair {
	int client, redis; /* -1: free */
	struct buf asked;  /* from the client, not passed on yet */
	struct buf answer;
};

struct stepper {
	int listener, done_fd;
	bool over; /* cut: no more connections are accepted */
	char path[108], upstream[108];
	struct pair pairs[PAIRS];
};

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

struct stepper *stepper_new(const char *path, const char *upstream, int done_fd)
{
	struct stepper *s = calloc(1, sizeof(*s));
	struct sockaddr_un a = address_of(path);

	assert_non_null(s);
	snprintf(s->path, sizeof(s->path), "%s", path);
	snprintf(s->upstream, sizeof(s->upstream), "%s", upstream);
	s->done_fd = done_fd;
	s->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(path);
	assert_int_equal(bind(s->listener, (void *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->listener, PAIRS), 0);
	for (int i = 0; i < PAIRS; i++)
		s->pairs[i].client = s->pairs[i].redis = -1;
	return s;
}

static void drop_pair(struct pair *p)
{
	if (p->client < 0)
		return;
	close(p->client);
	close(p->redis);
	p->client = p->redis = -1;
	buf_free(&p->asked);
	buf_free(&p->answer);
}

void stepper_free(struct stepper *s)
{
	if (!s)
		return;
	for (int i = 0; i < PAIRS; i++)
		drop_pair(&s->pairs[i]);
	if (s->listener >= 0)
		close(s->listener);
	unlink(s->path);
	free(s);
}

static void take_in(struct stepper *s)
{
	struct sockaddr_un a = address_of(s->upstream);
	int client = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	int redis = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(client >= 0 && redis >= 0);
	for (int i = 0; i < PAIRS; i++) {
		struct pair *p = &s->pairs[i];

		if (p->client >= 0)
			continue;
		p->client = client;
		p->redis = redis;
		if (connect(redis, (void *)&a, sizeof(a)))
			drop_pair(p);
		return;
	}
	fail_msg("more connections than a run should need");
}

/* --- the protocol --------------------------------------------------------- */

/* Returns the length of the value at `at`, or 0 if it is incomplete.  Requests
 * are arrays of bulk strings, answers any RESP2. */
static size_t value_size(const char *at, const char *end)
{
	const char *line =
		at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	long n;
	size_t len, part;

	if (!line)
		return 0;
	len = (size_t)(line + 1 - at);
	if (*at != '$' && *at != '*')
		return len;
	n = strtol(at + 1, NULL, 10);
	if (*at == '$') {
		if (n >= 0)
			len += (size_t)n + 2;
		return len <= (size_t)(end - at) ? len : 0;
	}
	for (long i = 0; i < n; i++) {
		part = value_size(at + len, end);
		if (!part)
			return 0;
		len += part;
	}
	return len;
}

static size_t first_size(const struct buf *b)
{
	return b->len ? value_size(b->data, b->data + b->len) : 0;
}

/* Returns false if the peer has closed. */
static bool receive_bytes(int fd, struct buf *b)
{
	char bytes[65536];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n <= 0)
		return false;
	buf_append(b, bytes, (size_t)n);
	return !b->failed;
}

static bool send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* Passes the first command of a connection, and its answer. */
static bool pass_command(struct pair *p)
{
	size_t len = first_size(&p->asked), back;

	if (!send_all(p->redis, p->asked.data, len))
		return false;
	buf_consume(&p->asked, len);
	while (!(back = first_size(&p->answer)))
		if (!receive_bytes(p->redis, &p->answer))
			return false;
	if (!send_all(p->client, p->answer.data, back))
		return false;
	buf_consume(&p->answer, back);
	return true;
}

/* --- stepping ------------------------------------------------------------- */

static struct pair *find_waiting_pair(struct stepper *s)
{
	for (int i = 0; i < PAIRS; i++)
		if (first_size(&s->pairs[i].asked))
			return &s->pairs[i];
	return NULL;
}

/* Waits for an event.  Returns false if the run has ended. */
static bool listen_once(struct stepper *s)
{
	struct pollfd fds[PAIRS + 2] = {{s->done_fd, POLLIN, 0},
					{s->listener, POLLIN, 0}};

	for (int i = 0; i < PAIRS; i++)
		fds[i + 2] = (struct pollfd){s->pairs[i].client, POLLIN, 0};
	assert_true(poll(fds, PAIRS + 2, 20000) > 0);
	for (int i = 0; i < PAIRS; i++)
		if (fds[i + 2].revents &&
		    !receive_bytes(s->pairs[i].client, &s->pairs[i].asked))
			drop_pair(&s->pairs[i]);
	if (fds[1].revents)
		take_in(s);
	return !fds[0].revents;
}

bool stepper_step(struct stepper *s)
{
	struct pair *p;

	while (!(p = find_waiting_pair(s)))
		if (!listen_once(s))
			return false;
	if (!pass_command(p))
		drop_pair(p);
	return true;
}

void stepper_cut(struct stepper *s, bool reach)
{
	struct pair *p;

	while (!(p = find_waiting_pair(s)) && listen_once(s))
		;
	if (reach && p) {
		send_all(p->redis, p->asked.data, first_size(&p->asked));
		/* The command is done when it is answered. */
		receive_bytes(p->redis, &p->answer);
	}
	for (int i = 0; i < PAIRS; i++)
		drop_pair(&s->pairs[i]);
	close(s->listener);
	s->listener = -1;
}
