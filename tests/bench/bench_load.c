/*
 * Creates links, one a request, over keep-alive connections, and measures.
 * With a file of codes in place of a key (one a line, all of one length), it
 * visits them in turn, with the given headers beside Host.
 * usage: bench_load [-r] [-k] [-s STATUS] [-o STATUS] [-H HEADER]...
 *		     PORT KEY|@FILE SECONDS CONNECTIONS [RATE [EACH]]
 *
 * Without RATE, or with 0, each connection sends as soon as it has its answer
 * (a closed loop, which measures the maximum rate).  With RATE, requests are
 * due RATE times a second whether or not earlier ones were answered (an open
 * loop, which measures a client's wait).  Latency counts from the time at which
 * a request was due, so a server that stalls is charged for all requests of
 * that time.  With EACH, a connection carries that many visits, the last of
 * which asks the server to close it, and the next visit uses a new one.
 *
 * With -r the server may be restarted: it may close a connection, with an
 * answer that announces it, or while no request is under way; the next request
 * uses a new one.  Connections then take turns; otherwise the last one is used
 * first.  SIGTERM ends it early, when all requests are answered.  With -k the
 * server may be killed as well: requests under way are counted as lost, and
 * connections are made again when there is a server.
 *
 * Prints {"requests","others","lost","seconds","rate","p50_us","p99_us",
 * "p999_us","max_us"}.  Any answer but 201, or 302 to a visit, or the status of
 * -s, ends it with status 1; answers with the status of -o are allowed, and
 * count among the others, too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 4096
#define ANSWER_MAX	8192
#define DIGITS		9 /* digits of the number in each URL */
#define SUB_BITS	6 /* a bucket is at most 1/64 wide */
#define BUCKETS		((64 - SUB_BITS) << SUB_BITS)
#define AGAIN_NS	10000000 /* wait before a new connection */

struct client {
	int fd; /* -1: not connected */
	bool busy;
	int sent;    /* on this connection */
	int64_t due; /* when the request under way was due */
	size_t len;
	char in[ANSWER_MAX];
};

struct load {
	int epoll;
	struct client *clients;
	int count;
	int *idle; /* a stack; with `restarts` a ring, from idle_first on */
	int idle_first, idle_count;
	bool restarts, kills;
	int64_t away_until; /* no server was found; wait until then */
	char status[16];    /* the beginning of each answer */
	char other[16];	    /* another permitted beginning; "": none */
	char headers[1024];
	size_t headers_len;
	char request[2048];
	size_t request_len, digits_at;
	char closing[2048]; /* the last request on a connection */
	size_t closing_len;
	int each; /* requests on one connection; 0: no limit */
	struct sockaddr_in to;
	char *codes; /* codes to visit; NULL: links are created */
	size_t code_len, code_count;
	uint64_t sent, answered, others, lost;
	int64_t start, end; /* ns */
	double rate;	    /* 0: as fast as possible */
	uint64_t buckets[BUCKETS];
	int64_t slowest;
};

static volatile sig_atomic_t told_to_end;

static void on_sigterm(int number)
{
	(void)number;
	told_to_end = 1;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void exit_with_error(const char *what)
{
	fprintf(stderr, "bench_load: %s\n", what);
	exit(1);
}

/* --- latencies ------------------------------------------------------------ */

static size_t bucket_of(uint64_t ns)
{
	int shift = 63 - __builtin_clzll(ns | 1) - SUB_BITS;

	if (shift <= 0)
		return ns;
	return ((size_t)shift << SUB_BITS) + (size_t)(ns >> shift);
}

/* Returns the upper end of a bucket. */
static double bucket_ns(size_t bucket)
{
	size_t shift = bucket >> SUB_BITS, rest;

	if (shift <= 1)
		return (double)bucket;
	shift--;
	rest = bucket - (shift << SUB_BITS);
	return (double)((rest + 1) << shift);
}

static double percentile_us(const struct load *l, double share)
{
	uint64_t left = (uint64_t)((double)l->answered * share);
	size_t i;

	for (i = 0; i < BUCKETS - 1 && left >= l->buckets[i]; i++)
		left -= l->buckets[i];
	return bucket_ns(i) / 1000;
}

/* --- a connection ---------------------------------------------------------
 */

static void connect_one(struct load *l, int index)
{
	struct client *c = &l->clients[index];
	struct epoll_event event = {.events = EPOLLIN,
				    .data.u32 = (uint32_t)index};
	int one = 1;

	c->sent = 0;
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(c->fd, (struct sockaddr *)&l->to, sizeof(l->to)) < 0) {
		if (!l->kills)
			exit_with_error("cannot connect");
		close(c->fd);
		c->fd = -1;
		l->away_until = now_ns() + AGAIN_NS;
		return;
	}
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void put_idle(struct load *l, int index)
{
	l->idle[(l->idle_first + l->idle_count++) % l->count] = index;
}

static int take_idle(struct load *l)
{
	int first = l->idle_first;

	l->idle_count--;
	if (!l->restarts)
		return l->idle[l->idle_count];
	l->idle_first = (first + 1) % l->count;
	return l->idle[first];
}

/* The server was killed, perhaps during a request. */
static void drop_connection(struct load *l, int index)
{
	struct client *c = &l->clients[index];

	close(c->fd);
	c->fd = -1;
	if (!c->busy)
		return;
	c->busy = false;
	l->lost++;
	put_idle(l, index);
}

/* --- requests ------------------------------------------------------------- */

static void read_codes(struct load *l, const char *path)
{
	FILE *in = fopen(path, "r");
	long size = 0;

	if (!in || fseek(in, 0, SEEK_END) || (size = ftell(in)) <= 0)
		exit_with_error("cannot read the codes");
	rewind(in);
	l->codes = malloc((size_t)size + 1);
	if (!l->codes || fread(l->codes, 1, (size_t)size, in) != (size_t)size)
		exit_with_error("cannot read the codes");
	fclose(in);
	l->codes[size] = '\0';
	l->code_len = strcspn(l->codes, "\n");
	l->code_count = (size_t)size / (l->code_len + 1);
	if (l->code_len == 0 ||
	    l->code_count * (l->code_len + 1) != (size_t)size)
		exit_with_error("the codes are not of one length");
}

static size_t write_visit(const struct load *l, const char *port,
			  const char *last_line, char *to, size_t size)
{
	int len = snprintf(to, size,
			   "GET /%.*s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
			   "%s%s\r\n",
			   (int)l->code_len, l->codes, port, l->headers,
			   last_line);

	if (len < 0 || (size_t)len >= size)
		exit_with_error("the codes are too long");
	return (size_t)len;
}

static void prepare_visits(struct load *l, const char *port)
{
	l->request_len =
		write_visit(l, port, "", l->request, sizeof(l->request));
	l->closing_len = write_visit(l, port, "Connection: close\r\n",
				     l->closing, sizeof(l->closing));
	l->digits_at = strlen("GET /");
}

static void prepare_creations(struct load *l, const char *port, const char *key)
{
	static const char url[] =
		"{\"url\":\"https://example.org/a/page?number=000000000\","
		"\"ttl\":\"30d\"}";
	int len;

	len = snprintf(l->request, sizeof(l->request),
		       "POST /v1/links HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n"
		       "Authorization: Bearer %s\r\n"
		       "Content-Type: application/json\r\n"
		       "Content-Length: %zu\r\n\r\n%s",
		       port, key, sizeof(url) - 1, url);
	if (len < 0 || (size_t)len >= sizeof(l->request))
		exit_with_error("the key is too long");
	l->request_len = (size_t)len;
	l->digits_at = (size_t)(strstr(l->request, "000000000") - l->request);
}

static void write_number(struct load *l, uint64_t number)
{
	for (int i = DIGITS; i-- > 0; number /= 10)
		l->request[l->digits_at + (size_t)i] =
			(char)('0' + number % 10);
}

static bool is_last(const struct load *l, const struct client *c)
{
	return l->each && c->sent == l->each;
}

static void send_request(struct load *l, int index, int64_t due)
{
	struct client *c = &l->clients[index];
	uint64_t number = l->sent++;
	bool closes;
	char *bytes;
	size_t len;

	c->sent++;
	closes = is_last(l, c);
	bytes = closes ? l->closing : l->request;
	len = closes ? l->closing_len : l->request_len;
	if (l->codes)
		memcpy(bytes + l->digits_at,
		       l->codes + number % l->code_count * (l->code_len + 1),
		       l->code_len);
	else
		write_number(l, number);
	c->due = due;
	c->busy = true;
	c->len = 0;
	if (send(c->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len)
		return;
	if (!l->kills)
		exit_with_error("the server took no request");
	drop_connection(l, index);
}

static int64_t due_ns(const struct load *l)
{
	return l->start + (int64_t)((double)l->sent * 1e9 / l->rate);
}

/* Sends the requests that are due while there are idle connections. */
static void send_due(struct load *l)
{
	int64_t now = now_ns();
	int index;

	while (l->idle_count > 0 && now < l->end && now >= l->away_until &&
	       (l->rate == 0 || due_ns(l) <= now)) {
		index = take_idle(l);
		if (l->clients[index].fd < 0)
			connect_one(l, index);
		if (l->clients[index].fd < 0)
			put_idle(l, index);
		else
			send_request(l, index, l->rate == 0 ? now : due_ns(l));
	}
}

/* --- connections ---------------------------------------------------------- */

static void connect_all(struct load *l, const char *port)
{
	l->to = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)atoi(port)),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	l->epoll = epoll_create1(0);
	l->clients = calloc((size_t)l->count, sizeof(*l->clients));
	l->idle = calloc((size_t)l->count, sizeof(*l->idle));
	if (l->epoll < 0 || !l->clients || !l->idle)
		exit_with_error("out of memory");
	for (int i = 0; i < l->count; i++) {
		connect_one(l, i);
		put_idle(l, i);
	}
}

/* --- answers -------------------------------------------------------------- */

/* Returns the length of the answer, or 0 while its head is incomplete. */
static size_t answer_len(struct client *c)
{
	const char *end, *length;

	c->in[c->len] = '\0';
	end = strstr(c->in, "\r\n\r\n");
	if (!end)
		return 0;
	length = strcasestr(c->in, "\r\nContent-Length:");
	if (!length || length > end)
		exit_with_error("an answer without Content-Length");
	return (size_t)(end + 4 - c->in) + strtoul(length + 17, NULL, 10);
}

static bool says_close(const struct client *c)
{
	return strcasestr(c->in, "\r\nConnection: close\r\n") != NULL;
}

static void check_status(struct load *l, const struct client *c)
{
	if (strncmp(c->in, l->status, strlen(l->status)) == 0)
		return;
	if (!l->other[0] || strncmp(c->in, l->other, strlen(l->other)) != 0) {
		fprintf(stderr, "%.*s\n", (int)c->len, c->in);
		exit_with_error("not the answer that was expected");
	}
	l->others++;
}

static void on_answer(struct load *l, int index)
{
	struct client *c = &l->clients[index];
	int64_t took = now_ns() - c->due;

	check_status(l, c);
	l->buckets[bucket_of((uint64_t)took)]++;
	l->answered++;
	if (took > l->slowest)
		l->slowest = took;
	c->busy = false;
	if (is_last(l, c) || (l->restarts && says_close(c))) {
		close(c->fd);
		connect_one(l, index);
	}
	put_idle(l, index);
}

static void on_readable(struct load *l, int index)
{
	struct client *c = &l->clients[index];
	ssize_t n = recv(c->fd, c->in + c->len, sizeof(c->in) - 1 - c->len,
			 MSG_DONTWAIT);
	size_t len;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 && l->kills) {
		drop_connection(l, index);
		return;
	}
	if (n == 0 && !c->busy && l->restarts) {
		close(c->fd);
		connect_one(l, index);
		return;
	}
	if (n <= 0 || !c->busy)
		exit_with_error(
			c->busy ? "the server closed a connection that it was "
				  "asked on"
				: "the server closed a connection");
	c->len += (size_t)n;
	len = answer_len(c);
	if (len > 0 && c->len >= len)
		on_answer(l, index);
}

/* --- the run -------------------------------------------------------------- */

/* Returns the time until the next request is due, or a short one if none will
 * be. */
static int64_t patience_ns(const struct load *l)
{
	int64_t left;

	if (l->rate == 0 || l->idle_count == 0)
		return 10000000;
	left = due_ns(l) - now_ns();
	if (left < l->away_until - now_ns())
		left = l->away_until - now_ns();
	return left < 0 ? 0 : left;
}

static void run_load(struct load *l)
{
	struct epoll_event events[256];
	struct timespec wait = {0};
	int64_t late;
	int n;

	l->start = now_ns();
	late = l->end = l->start + l->end;
	late += 10 * INT64_C(1000000000);
	while (now_ns() < l->end || l->idle_count < l->count) {
		if (now_ns() > late)
			exit_with_error("no answer for 10 s");
		if (told_to_end && now_ns() < l->end) {
			l->end = now_ns();
			late = l->end + 60 * INT64_C(1000000000);
		}
		send_due(l);
		wait.tv_nsec = patience_ns(l) % 1000000000;
		n = epoll_pwait2(l->epoll, events, 256, &wait, NULL);
		for (int i = 0; i < n; i++)
			on_readable(l, (int)events[i].data.u32);
	}
}

static void add_header(struct load *l, const char *line)
{
	size_t left = sizeof(l->headers) - l->headers_len;
	int len = snprintf(l->headers + l->headers_len, left, "%s\r\n", line);

	if (len < 0 || (size_t)len >= left)
		exit_with_error("the headers are too long");
	l->headers_len += (size_t)len;
}

static void begin_of_answer(char begin[16], const char *status)
{
	snprintf(begin, 16, "HTTP/1.1 %.3s ", status);
}

/* Returns how many of the arguments are options. */
static int read_options(struct load *l, int argc, char **argv)
{
	const char *status = NULL;
	int option;

	while ((option = getopt(argc, argv, "+rks:o:H:")) != -1) {
		if (option == 's')
			status = optarg;
		else if (option == 'o')
			begin_of_answer(l->other, optarg);
		else if (option == 'r')
			l->restarts = true;
		else if (option == 'k')
			l->restarts = l->kills = true;
		else if (option == 'H')
			add_header(l, optarg);
		else
			exit(64);
	}
	if (!status)
		status = argc > optind + 1 && argv[optind + 1][0] == '@'
				 ? "302"
				 : "201";
	begin_of_answer(l->status, status);
	return optind - 1;
}

int main(int argc, char **argv)
{
	static struct load l;
	double seconds;
	int options = read_options(&l, argc, argv);

	argc -= options;
	argv += options;
	if (argc < 5 || argc > 7) {
		fprintf(stderr,
			"usage: bench_load [-r] [-k] [-s STATUS] [-o STATUS] "
			"[-H HEADER]... PORT KEY|@FILE SECONDS CONNECTIONS "
			"[RATE [EACH]]\n");
		return 64;
	}
	l.count = atoi(argv[4]);
	if (l.count < 1 || l.count > CONNECTIONS_MAX)
		exit_with_error("CONNECTIONS is 1 to 4096");
	l.end = (int64_t)(strtod(argv[3], NULL) * 1e9);
	l.rate = argc > 5 ? strtod(argv[5], NULL) : 0;
	l.each = argc > 6 ? atoi(argv[6]) : 0;
	if (l.each && argv[2][0] != '@')
		exit_with_error("EACH is for visits");
	if (argv[2][0] == '@') {
		read_codes(&l, argv[2] + 1);
		prepare_visits(&l, argv[1]);
	} else {
		prepare_creations(&l, argv[1], argv[2]);
	}
	signal(SIGTERM, on_sigterm);
	connect_all(&l, argv[1]);
	run_load(&l);
	seconds = (double)(l.end - l.start) / 1e9;
	printf("{\"requests\":%llu,\"others\":%llu,\"lost\":%llu,"
	       "\"seconds\":%.3f,"
	       "\"rate\":%.1f,"
	       "\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f,"
	       "\"max_us\":%.1f}\n",
	       (unsigned long long)l.answered, (unsigned long long)l.others,
	       (unsigned long long)l.lost, seconds,
	       (double)l.answered / seconds, percentile_us(&l, 0.5),
	       percentile_us(&l, 0.99), percentile_us(&l, 0.999),
	       (double)l.slowest / 1000);
	return 0;
}
