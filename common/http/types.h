/*
 * types.h - what the server's files share; not for others.  From the ground up:
 *
 *	request.c	what handlers ask of a request
 *	check.c		what a header block must not have in it
 *	scan.c		bytes to a request, of the usual kind
 *	parse.c		bytes to a request, of any kind, with llhttp
 *	request_pool.c	requests and their buffers, kept for the next
 *	reply.c		answers to bytes
 *	io.c		reads and writes
 *	stream.c	bodies and answers in pieces
 *	idle.c		which connections may make room for others
 *	connection.c	the order of things
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
	LINGERING, /* all said; letting the client read it before closing */
};

/* What a connection's timeout is about. */
enum connection_wait {
	WAIT_FIRST, /* for the first byte of all */
	WAIT_IDLE,
	WAIT_HEADER,
	WAIT_BODY,
	WAIT_HANDLER, /* no timeout: the program's own business */
	WAIT_WRITE,
	WAIT_LINGER,
};

/* Offsets count from the first byte of the request, so that they survive a
 * buffer that moves while the request is still arriving. */
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
	size_t grown;  /* bytes that `in` outgrew its first size by */
	size_t sent;   /* of `out` */
	size_t start;  /* of the request, in `in` */
	size_t parsed; /* up to here `in` has been through the parser */

	/* Of the request at `start`: */
	bool begun;	     /* the parser has seen a byte of it */
	bool headers_done;   /* and they were accepted */
	bool header_open;    /* the last header's value is not complete */
	bool keep_alive;     /* as asked by the client */
	bool expects;	     /* 100 Continue is to be sent */
	bool chosen;	     /* it is to be streamed */
	bool trailing;	     /* its trailer has begun */
	bool unadmitted;     /* its body is not to be read yet */
	char last;	     /* of the bytes the parser has seen */
	char trailer_last;   /* of the trailer's */
	size_t trailer_from; /* offset where it begins in this read, or 0 */
	size_t trailer_len;  /* bytes of it so far */
	uint64_t body_bytes; /* raw, chunk framing included */
	uint32_t url, url_len;
	uint32_t authority, authority_len; /* of the target; length 0: none */
	size_t body, body_len;		   /* body: offset */
	size_t body_max;
	uint32_t header_len; /* request line and headers, once done */
	int refusal;	     /* status, 0: none */
	const char *refusal_detail;
	void (*on_gone)(void *arg); /* NULL: not asked for, or told */
	void *gone_arg;
	struct http_slice path, query; /* once complete */

	uint32_t header_count;
	struct header_ref headers[]; /* config->max_headers */
};

/* What a connection does when those below it are done. */
struct connection_calls {
	/* The handler has answered into req->out. */
	void (*answered)(struct connection *conn);
	/* Goes on with what is there to be parsed, shown or sent. */
	void (*proceed)(struct connection *conn);
};

struct connection {
	struct http_listener *listener; /* NULL once that is freed */
	struct connection *prev, *next;
	struct loop_watch *watch; /* NULL until it has to wait */
	struct loop_timer *timer;
	struct http_request *req; /* NULL while idle */
	int fd;			  /* -1 once the client has gone */
	enum connection_phase phase;
	bool processing; /* in process(), further up the stack */
	bool paused;	 /* more has come than may be read now */
	bool drained;	 /* by the present call: no more had come */
	bool closing;	 /* close once `out` is sent */
	bool linger;	 /* the client may still be sending then */
	bool progress;	 /* the timeout starts anew */
	bool spoken;	 /* it has sent a byte */
	bool is_idle;	 /* it is in the listener's queue of those: */
	bool early;	 /* it was there when the listener began to wind down */
	unsigned handled; /* requests not yet counted in the metrics */
	enum connection_wait wait;
	int unread;    /* while sending: connection_unread() when that began */
	int64_t since; /* when that wait began */
	struct connection *idle_prev, *idle_next;
	int64_t idle_from; /* when it came to its place there */
	struct sockaddr_storage peer;
	const struct connection_calls *calls;
};

/* A socket that connections are accepted on. */
struct acceptor {
	struct http_listener *listener;
	struct loop_watch *watch; /* NULL: not now */
	int fd;			  /* -1: none, or no longer */
	bool shared;		  /* with other listeners, and not ours */
	struct acceptor *next;
};

/* The one that has been idle longest is first. */
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
	http_fields *fields; /* NULL: answers have their own alone */
	void *arg;
	/* Whose connections begin with a PROXY header; NULL: nobody's. */
	const struct network_list *proxies;
	http_proxy_refused *proxy_refused;
	void *proxy_arg;
	struct proxied *proxied; /* whose header has not come yet */
	struct connection *connections;
	size_t connection_count; /* the former included */
	struct idle_queue idle;
	struct http_request *pool;
	size_t pooled;
	size_t grown; /* over all requests */
	struct http_metrics metrics;
	bool draining;
	bool winding_down; /* and still accepts */
	bool patient;	   /* and lets idle connections ask once more */
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
	struct loop_timer *kick; /* goes on outside of the present call */
	bool kicked;
	size_t taken;	 /* of body_len */
	size_t chunk;	 /* where the open chunk begins in `out` */
	bool chunk_open; /* something has been written to it */
	bool fed;	 /* the parser has gone on behind the headers */
	bool paused;	 /* by the handler */
	bool body_done;	 /* its last byte has arrived */
	bool end_told;
	bool answering; /* http_stream_begin was called */
	bool chunked;	/* the answer is */
	bool silent;	/* HEAD: the answer has no body */
	bool above;	/* pending has been above the mark */
	bool lost;	/* nobody to read from or to talk to */
	bool loss_told;
	bool stop_told; /* that the listener drains */
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

/* Nobody is there to be read from or to be answered. */
static inline bool stream_is_lost(const struct http_request *req)
{
	return req->stream->lost || req->conn->fd < 0;
}

#endif
