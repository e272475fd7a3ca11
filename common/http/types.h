/*
 * types.h - types that the server's files share; internal.  From the bottom up:
 *
 *	request.c	reads the parts of a request, for handlers
 *	check.c		rejects what a header block must not contain
 *	scan.c		parses a request of the usual kind
 *	parse.c		parses any request, with llhttp
 *	request_pool.c	unused requests and their buffers
 *	reply.c		writes answers
 *	io.c		reads and writes
 *	stream.c	bodies and answers in pieces
 *	idle.c		the queue of idle connections
 *	connection.c	the life of a connection
 *	proxied.c	connections whose PROXY header has not come yet
 *	listener.c	accepts connections, drains
 */
#ifndef COMMON_HTTP_TYPES_H
#define COMMON_HTTP_TYPES_H

#include <llhttp.h>

#include "common/buf.h"
#include "common/http/http_config.h"
#include "common/http/http_metrics.h"
#include "common/http/listener.h"
#include "common/http/stream.h"

/* "\r\nDate: Sat, 21 Nov 2026 01:02:03 GMT\r\n" */
#define HTTP_DATE_LEN 39

enum connection_phase {
	READING,   /* waiting for a request, or in the middle of one */
	HANDLING,  /* the request is with its handler */
	STREAMING, /* the same, while its body arrives */
	LINGERING, /* all is sent; the client may read it before the close */
};

/* The event that a connection's timeout waits for. */
enum connection_wait {
	WAIT_FIRST, /* for the very first byte */
	WAIT_IDLE,
	WAIT_HEADER,
	WAIT_BODY,
	WAIT_HANDLER, /* no timeout: the program decides */
	WAIT_WRITE,
	WAIT_LINGER,
};

/* Offsets count from the first byte of the request, so that they stay valid
 * when the buffer moves while the request is still arriving. */
struct header_ref {
	uint32_t name, name_len;
	uint32_t value, value_len;
};

/*
 * A request and the buffers it needs.  A connection has one from a request's
 * first byte until its answer is sent, then gives it back to the listener's
 * pool: an idle connection holds no buffer, a busy one allocates nothing.
 */
struct http_request {
	struct connection *conn;
	struct http_request *next_free;
	struct http_stream *stream; /* NULL unless it is streamed */
	llhttp_t parser;
	struct buf in;
	struct buf out;
	size_t grown;  /* bytes by which `in` exceeds its first size */
	size_t sent;   /* bytes of `out` that are sent */
	size_t start;  /* offset of the request in `in` */
	size_t parsed; /* `in` has been parsed up to here */

	/* The fields below are of the request at `start`: */
	bool begun;	     /* the parser has read a byte of it */
	bool headers_done;   /* its headers are complete and accepted */
	bool header_open;    /* the last header's value is not complete */
	bool keep_alive;     /* the client's wish */
	bool expects;	     /* 100 Continue has to be sent */
	bool chosen;	     /* it will be streamed */
	bool trailing;	     /* its trailer has begun */
	bool unadmitted;     /* its body is not to be read yet */
	char last;	     /* last byte that was parsed */
	char trailer_last;   /* last byte of the trailer */
	size_t trailer_from; /* offset of the trailer in this read, or 0 */
	size_t trailer_len;  /* length of the trailer so far */
	uint64_t body_bytes; /* raw, chunk framing included */
	uint32_t url, url_len;
	uint32_t authority, authority_len; /* the target's; length 0: none */
	size_t body, body_len;		   /* body: offset */
	size_t body_max;
	uint32_t header_len; /* request line and headers, once done */
	int refusal;	     /* status, 0: none */
	const char *refusal_detail;
	void (*on_gone)(void *arg); /* NULL: not requested, or called */
	void *gone_arg;
	struct http_slice path, query; /* set once complete */

	uint32_t header_count;
	struct header_ref headers[]; /* config->max_headers */
};

/* Calls from lower layers to the connection. */
struct connection_calls {
	/* The handler has answered into req->out. */
	void (*answered)(struct connection *conn);
	/* Continues with what can be parsed, passed on or sent. */
	void (*proceed)(struct connection *conn);
};

struct connection {
	struct http_listener *listener; /* NULL once freed */
	struct connection *prev, *next;
	struct loop_watch *watch; /* NULL until its first wait */
	struct loop_timer *timer;
	struct http_request *req; /* NULL while idle */
	int fd;			  /* -1 once the client has gone */
	enum connection_phase phase;
	bool processing; /* in process_requests(), further up the stack */
	bool paused;	 /* more has arrived than may be read now */
	bool drained;	 /* this call has read all that had arrived */
	bool closing;	 /* close once `out` is sent */
	bool linger;	 /* the client may still send after `out` is sent */
	bool progress;	 /* the timeout starts again */
	bool spoken;	 /* the client has sent a byte */
	bool is_idle;	 /* it is in the listener's queue of idle connections */
	bool early;	 /* it existed when the listener began to wind down */
	unsigned handled; /* requests not yet counted in the metrics */
	enum connection_wait wait;
	int unread;    /* while sending: connection_unread() at the start of the
			  wait */
	int64_t since; /* the start of `wait` */
	struct connection *idle_prev, *idle_next;
	int64_t idle_from; /* time at which it entered the queue of idle ones */
	struct sockaddr_storage peer;
	const struct connection_calls *calls;
};

/* A socket on which connections are accepted. */
struct acceptor {
	struct http_listener *listener;
	struct loop_watch *watch; /* NULL: not watched now */
	int fd;			  /* -1: none, or closed */
	bool shared;		  /* with other listeners; not owned */
	struct acceptor *next;
};

/* The connection that has been idle longest is first. */
struct idle_queue {
	struct connection *first, *last;
};

struct http_listener {
	struct loop *loop;
	struct acceptor own;
	struct acceptor *shared;  /* a list */
	bool open;		  /* it accepts */
	struct loop_timer *pause; /* accepting again after EMFILE */
	const struct http_config *config;
	http_handler *handler;
	http_stream_choose *choose; /* NULL: nothing is streamed */
	http_handler *stream_handler;
	http_admit *admit;   /* NULL: every body is read */
	http_fields *fields; /* NULL: answers have only their own */
	void *arg;
	/* The networks whose connections begin with a PROXY header; NULL:
	 * none. */
	const struct network_list *proxies;
	http_proxy_refused *proxy_refused;
	void *proxy_arg;
	struct proxied *proxied; /* connections whose header has not come yet */
	struct connection *connections;
	size_t connection_count; /* `proxied` included */
	struct idle_queue idle;
	struct http_request *pool;
	size_t pooled;
	size_t grown; /* sum of `grown` over all requests */
	struct http_metrics metrics;
	bool draining;
	bool winding_down; /* it drains, and still accepts */
	bool patient; /* it drains, and idle connections may send one request */
	size_t early_count;
	struct loop_timer *drain_timer;
	void (*drained)(void *arg);
	void *drained_arg;
	int64_t date_until; /* loop time up to which `date` is right */
	char date[HTTP_DATE_LEN + 1];
};

struct http_stream {
	const struct http_stream_handler *handler; /* NULL: not accepted yet */
	void *arg;
	struct loop_timer *kick; /* continues outside of the present call */
	bool kicked;
	size_t taken;	 /* bytes of the body */
	size_t chunk;	 /* where the open chunk begins in `out` */
	bool chunk_open; /* some bytes have been written to the open chunk */
	bool fed;	 /* the parser has continued after the headers */
	bool paused;	 /* the handler has paused it */
	bool body_done;	 /* the body's last byte has arrived */
	bool end_told;
	bool answering; /* http_stream_begin was called */
	bool chunked;	/* the answer is chunked */
	bool silent;	/* HEAD: the answer has no body */
	bool above;	/* pending has been above the mark */
	bool lost;	/* there is no client to read from or write to */
	bool loss_told;
	bool stop_told; /* on_stop was called */
};

static inline const struct http_config *
request_config(const struct http_request *req)
{
	return req->conn->listener->config;
}

/* The first byte of the request. */
static inline const char *request_base(const struct http_request *req)
{
	return req->in.data + req->start;
}

/* Returns true if there is no client to read from or to answer. */
static inline bool stream_is_lost(const struct http_request *req)
{
	return req->stream->lost || req->conn->fd < 0;
}

#endif
