/*
 * stream_world.h - a listener that streams requests below /s; the path selects
 * what the handler does:
 *	/s/echo		writes back what comes, as it comes
 *	/s/count	answers how many bytes came
 *	/s/sip		the same, 1,000 bytes a ms
 *	/s/hold		takes nothing before world_post(w, stream_let_go)
 *	/s/refuse	answers 401 at once
 *	/s/refuse-later	answers 403 at the first byte of the body
 *	/s/early	ends a streamed answer at the first byte of the body
 *	/s/fill		answers FILL bytes, FILL_MARK of them pending at most
 *	/s/forget	ends without an answer
 *	/s/break	breaks its answer off
 *	/s/name		answers at the end, with values of the headers
 *	/s/live		answers "hello", then what stream_say sends, up to a
 *			drain; ignores its body
 *	/s/quiet	answers QUIET bytes and goes on as /s/live
 */
#ifndef TESTS_UNIT_HTTP_STREAM_WORLD_H
#define TESTS_UNIT_HTTP_STREAM_WORLD_H

#include "common/http/stream.h"
#include "world.h"

#define FILL	  (8 * 1024 * 1024)
#define FILL_MARK 65536
#define FILL_STEP 10000
#define SIP	  1000
#define QUIET	  60000

struct stream_world {
	struct world base;
	struct http_request *held, *sipping, *live;
	struct loop_timer *sip;
	size_t filled;
	atomic_size_t taken, most_pending;
	atomic_int ended, aborted;
	atomic_bool let_go; /* the held request was resumed or ended */
};

static inline bool stream_path_is(const struct http_request *req,
				  const char *path)
{
	return http_slice_is(http_path(req), path);
}

static inline bool stream_choose(const struct http_request *req, void *arg)
{
	(void)arg;
	return http_path(req).len > 3 &&
	       memcmp(http_path(req).data, "/s/", 3) == 0;
}

static inline void stream_fill(struct stream_world *w, struct http_request *req)
{
	char block[FILL_STEP];

	memset(block, 'x', sizeof(block));
	while (w->filled < FILL && http_stream_pending(req) < FILL_MARK) {
		size_t n = FILL - w->filled < sizeof(block) ? FILL - w->filled
							    : sizeof(block);

		http_stream_write(req, block, n);
		w->filled += n;
		if (http_stream_pending(req) > atomic_load(&w->most_pending))
			atomic_store(&w->most_pending,
				     http_stream_pending(req));
	}
	if (w->filled == FILL) {
		w->filled++;
		http_stream_end(req);
	}
}

static inline size_t stream_on_data(struct http_request *req,
				    struct http_slice data, void *arg)
{
	struct stream_world *w = arg;
	size_t n = data.len;

	if (stream_path_is(req, "/s/hold") && w->held)
		return 0;
	if (stream_path_is(req, "/s/sip") && n > SIP) {
		n = SIP;
		w->sipping = req;
		loop_timer_set(w->sip, 1);
	}
	atomic_fetch_add(&w->taken, n);
	if (stream_path_is(req, "/s/echo"))
		http_stream_write(req, data.data, n);
	if (stream_path_is(req, "/s/refuse-later")) {
		http_reply_problem(req, 403, NULL, "not this");
	} else if (stream_path_is(req, "/s/early")) {
		http_stream_begin(req, 200, NULL);
		http_stream_write(req, "enough", 6);
		http_stream_end(req);
	}
	return n;
}

static inline void stream_answer_name(struct http_request *req)
{
	struct http_slice name = http_header_get(req, "X-Name");
	struct http_slice parts[] = {http_method(req), http_path(req),
				     http_query(req), name};

	http_stream_begin(req, 200, NULL);
	for (size_t i = 0; i < 4; i++) {
		http_stream_write(req, parts[i].data, parts[i].len);
		http_stream_write(req, "\n", 1);
	}
	http_stream_end(req);
}

static inline void stream_break(struct http_request *req)
{
	http_stream_begin(req, 200, NULL);
	http_stream_write(req, "a part", 6);
	http_stream_break(req);
	http_stream_write(req, "more", 4);
	http_stream_end(req);
}

static inline void stream_on_end(struct http_request *req, void *arg)
{
	struct stream_world *w = arg;
	char text[32];

	atomic_fetch_add(&w->ended, 1);
	if (stream_path_is(req, "/s/echo") || stream_path_is(req, "/s/forget"))
		http_stream_end(req);
	else if (stream_path_is(req, "/s/break"))
		stream_break(req);
	else if (stream_path_is(req, "/s/name"))
		stream_answer_name(req);
	else if (stream_path_is(req, "/s/fill"))
		stream_fill(w, req);
	else {
		snprintf(text, sizeof(text), "%zu",
			 atomic_exchange(&w->taken, 0));
		http_reply_text(req, 200, text);
	}
}

static inline void stream_on_abort(struct http_request *req, void *arg)
{
	struct stream_world *w = arg;

	atomic_fetch_add(&w->aborted, 1);
	w->sipping = NULL;
	if (w->held != req)
		http_stream_end(req);
}

static inline void stream_on_drained(struct http_request *req, void *arg)
{
	if (stream_path_is(req, "/s/fill"))
		stream_fill(arg, req);
}

static const struct http_stream_handler stream_handler = {
	.on_data = stream_on_data,
	.on_end = stream_on_end,
	.on_abort = stream_on_abort,
	.on_drained = stream_on_drained,
	.drain_mark = FILL_MARK / 2,
};

static inline void stream_end_live(struct http_request *req, void *arg)
{
	struct stream_world *w = arg;

	w->live = NULL;
	http_stream_end(req);
}

static inline void stream_abort_live(struct http_request *req, void *arg)
{
	struct stream_world *w = arg;

	atomic_fetch_add(&w->aborted, 1);
	stream_end_live(req, arg);
}

/* The body is not read, and the answer does not end by itself. */
static const struct http_stream_handler live_handler = {
	.on_abort = stream_abort_live,
	.on_stop = stream_end_live,
	.stop_at_half_close = true,
};

static inline void stream_handle_live(struct http_request *req,
				      struct stream_world *w)
{
	static const char zeroes[QUIET];

	w->live = req;
	http_stream_accept(req, &live_handler, w);
	http_stream_begin(req, 200, NULL);
	http_stream_write(req, "hello", 5);
	if (stream_path_is(req, "/s/quiet"))
		http_stream_write(req, zeroes, QUIET);
}

/* Runs on the loop: sends a word in a turn of its own. */
static inline void stream_say(void *arg)
{
	struct stream_world *w = arg;

	if (w->live)
		http_stream_write(w->live, "a word", 6);
}

static inline void stream_handle(struct http_request *req, void *arg)
{
	struct stream_world *w = arg;
	static const struct http_field fields[] = {{"X-Kind", "echo"}, {0}};

	atomic_fetch_add(&w->base.handled, 1);
	if (stream_path_is(req, "/s/live") || stream_path_is(req, "/s/quiet")) {
		stream_handle_live(req, w);
		return;
	}
	if (stream_path_is(req, "/s/refuse")) {
		http_reply_problem(req, 401, NULL, "no key");
		return;
	}
	http_stream_accept(req, &stream_handler, w);
	if (stream_path_is(req, "/s/hold"))
		w->held = req;
	if (stream_path_is(req, "/s/echo"))
		http_stream_begin(req, 200, fields);
	if (stream_path_is(req, "/s/fill"))
		http_stream_begin(req, 200, NULL);
}

static inline void stream_on_sip(void *arg)
{
	struct stream_world *w = arg;
	struct http_request *req = w->sipping;

	w->sipping = NULL;
	if (req)
		http_stream_resume(req);
}

/* Takes the held body, or ends the request if the client has gone. */
static inline void stream_let_go(void *arg)
{
	struct stream_world *w = arg;
	struct http_request *req = w->held;

	w->held = NULL;
	if (!req)
		return;
	if (atomic_load(&w->aborted))
		http_stream_end(req);
	else
		http_stream_resume(req);
	atomic_store(&w->let_go, true);
}

static inline int stream_start(struct stream_world *w)
{
	world_open(&w->base);
	w->sip = loop_timer_new(w->base.loop, stream_on_sip, w, &w->base.err);
	http_listener_stream(w->base.listener, stream_choose, stream_handle);
	world_run(&w->base);
	return 0;
}

static inline int stream_setup(void **state)
{
	struct stream_world *w = calloc(1, sizeof(*w));

	*state = w;
	world_configure(&w->base);
	w->base.config.max_body_bytes = 1000;
	return stream_start(w);
}

static inline int stream_setup_impatient(void **state)
{
	struct stream_world *w = calloc(1, sizeof(*w));

	*state = w;
	world_configure_impatient(&w->base);
	return stream_start(w);
}

static inline int stream_teardown(void **state)
{
	struct stream_world *w = *state;

	world_stop(&w->base);
	stream_let_go(w);
	world_free(&w->base);
	return 0;
}

static inline void stream_wait(atomic_int *number, int at_least)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(number) < at_least; i++)
		usleep(1000);
	assert_true(atomic_load(number) >= at_least);
}

/* Joins the chunks of an answer in place. */
static inline char *stream_join(char *answer)
{
	char *at = strstr(answer, "\r\n\r\n") + 4, *to = answer;
	unsigned long len;

	while ((len = strtoul(at, &at, 16)) > 0) {
		memmove(to, at + 2, len);
		to += len;
		at += 2 + len + 2;
	}
	assert_string_equal(at, "\r\n\r\n");
	*to = '\0';
	return answer;
}

/* Sends a body of this many bytes. */
static inline void send_body(int fd, size_t len)
{
	char block[8192];
	size_t n;

	memset(block, 'x', sizeof(block));
	for (; len > 0; len -= n) {
		n = len < sizeof(block) ? len : sizeof(block);
		assert_int_equal(send(fd, block, n, MSG_NOSIGNAL), n);
	}
}

static inline void expect_alive(int fd)
{
	char *answer;

	client_send(fd, GET("/after"));
	answer = client_read(fd, "GET\n/after\n\n\n", 1);
	assert_int_equal(status_of(answer), 200);
	free(answer);
}

#define STREAM(name)                                                           \
	cmocka_unit_test_setup_teardown(name, stream_setup, stream_teardown)
#define STREAM_IMPATIENT(name)                                                 \
	cmocka_unit_test_setup_teardown(name, stream_setup_impatient,          \
					stream_teardown)

#define POST(path, more)                                                       \
	"POST " path " HTTP/1.1\r\nHost: a\r\nX-Name: somebody\r\n" more "\r"  \
	"\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

#endif
