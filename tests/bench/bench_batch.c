/*
 * Creates links in one batch, one a line, written and read at the same time; or
 * edits links, with the body in a file.
 * usage: bench_batch PORT KEY LINES [BODY]
 *
 * Prints {"links","seconds","rate"}.  Any line that is no link, or no answer to
 * an edit, ends it with status 1.  The request is HTTP/1.0, so that the answer
 * has only lines.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE                                                                   \
	"{\"url\":\"https://example.org/a/page?number=000000000\","            \
	"\"ttl\":\"30d\"}\n"
#define LINE_LEN (sizeof(LINE) - 1)
#define BLOCK	 512 /* lines in one write */
#define DIGITS	 9
#define LINK	 "{\"code\":\""
#define EDIT	 "{\"line\":"
#define LINK_LEN (sizeof(LINK) - 1)

struct run {
	int fd;
	int body;	      /* of edits; -1: links are created */
	const char *expected; /* start of an answer line */
	long lines, made;     /* lines to send; lines put into `block` so far */
	char block[BLOCK * LINE_LEN];
	size_t len, sent; /* bytes of the block */
	char in[262144];
	bool head_done;
	char start[LINK_LEN]; /* start of the present line */
	size_t column;
	long links;
};

static void exit_with_error(const char *what)
{
	fprintf(stderr, "bench_batch: %s\n", what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void make_block(struct run *r)
{
	const size_t digits = (size_t)(strstr(LINE, "000000000") - LINE);
	long number;
	char *line;

	r->len = r->sent = 0;
	if (r->body >= 0) {
		ssize_t n = read(r->body, r->block, sizeof(r->block));

		r->len = n > 0 ? (size_t)n : 0;
		return;
	}
	for (; r->made < r->lines && r->len < sizeof(r->block); r->made++) {
		line = r->block + r->len;
		memcpy(line, LINE, LINE_LEN);
		number = r->made;
		for (size_t i = DIGITS; i-- > 0; number /= 10)
			line[digits + i] = (char)('0' + number % 10);
		r->len += LINE_LEN;
	}
}

/* Returns false when everything is written. */
static bool write_some(struct run *r)
{
	ssize_t n;

	if (r->sent == r->len)
		make_block(r);
	if (r->len == 0)
		return false;
	n = send(r->fd, r->block + r->sent, r->len - r->sent,
		 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN)
		exit_with_error("the server closed the connection");
	if (n > 0)
		r->sent += (size_t)n;
	return true;
}

static void count_lines(struct run *r, const char *text, size_t len)
{
	const char *end;
	size_t n;

	for (; len > 0; text += n, len -= n) {
		end = memchr(text, '\n', len);
		n = end ? (size_t)(end - text) + 1 : len;
		for (size_t i = 0; i < n && r->column + i < LINK_LEN; i++)
			r->start[r->column + i] = text[i];
		r->column += n;
		if (!end)
			continue;
		if (strncmp(r->start, r->expected, strlen(r->expected)) != 0) {
			fprintf(stderr, "%.*s", (int)n, text);
			exit_with_error("a line is no link");
		}
		r->links++;
		r->column = 0;
	}
}

/* Returns false at the end of the answer. */
static bool read_some(struct run *r)
{
	ssize_t n = recv(r->fd, r->in, sizeof(r->in) - 1, MSG_DONTWAIT);
	const char *body = r->in;

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		return false;
	if (!r->head_done) {
		r->in[n] = '\0';
		body = strstr(r->in, "\r\n\r\n");
		if (!body || strncmp(r->in, "HTTP/1.1 200", 12) != 0) {
			fprintf(stderr, "%s\n", r->in);
			exit_with_error("not a 200");
		}
		body += 4;
		r->head_done = true;
	}
	count_lines(r, body, (size_t)(r->in + n - body));
	return true;
}

static size_t measure_body(const struct run *r)
{
	struct stat file;

	if (r->body < 0)
		return (size_t)r->lines * LINE_LEN;
	if (fstat(r->body, &file) < 0)
		exit_with_error("cannot read the body");
	return (size_t)file.st_size;
}

static void open_body(struct run *r, const char *path)
{
	r->body = path ? open(path, O_RDONLY) : -1;
	r->expected = path ? EDIT : LINK;
	if (path && r->body < 0)
		exit_with_error("cannot open the body");
}

static void begin_batch_request(struct run *r, const char *port,
				const char *key)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(port)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char head[1024];
	int len;

	r->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(r->fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		exit_with_error("cannot connect");
	len = snprintf(head, sizeof(head),
		       "POST /v1/links/%s HTTP/1.0\r\n"
		       "Authorization: Bearer %s\r\n"
		       "Content-Type: application/x-ndjson\r\n"
		       "Content-Length: %zu\r\n\r\n",
		       r->body < 0 ? "batch" : "edit", key, measure_body(r));
	if (send(r->fd, head, (size_t)len, MSG_NOSIGNAL) != len)
		exit_with_error("the server took no request");
}

int main(int argc, char **argv)
{
	static struct run r;
	struct pollfd poll_fd;
	double seconds;
	int64_t begun;

	if (argc != 4 && argc != 5) {
		fprintf(stderr, "usage: bench_batch PORT KEY LINES [BODY]\n");
		return 64;
	}
	r.lines = atol(argv[3]);
	open_body(&r, argv[4]);
	begin_batch_request(&r, argv[1], argv[2]);
	begun = now_ns();
	poll_fd = (struct pollfd){r.fd, POLLIN | POLLOUT, 0};
	do {
		if (poll(&poll_fd, 1, 10000) <= 0)
			exit_with_error("nothing moves for 10 s");
		if ((poll_fd.revents & POLLOUT) && !write_some(&r))
			poll_fd.events = POLLIN;
	} while (!(poll_fd.revents & (POLLIN | POLLHUP)) || read_some(&r));
	seconds = (double)(now_ns() - begun) / 1e9;
	if (r.links != r.lines)
		exit_with_error("not as many links as lines");
	printf("{\"links\":%ld,\"seconds\":%.3f,\"rate\":%.1f}\n", r.links,
	       seconds, (double)r.links / seconds);
	return 0;
}
