/*
 * internal.h - what the server's files share; not for others.
 *
 *	listener.c	accepts connections, keeps pool and metrics, drains
 *	connection.c	the order of things
 *	timeout.c	what a connection waits for, and how long
 *	io.c		reads and writes
 *	parse.c		bytes to a request, with llhttp
 *	check.c		what a header block must not have in it
 *	request.c	what handlers ask of a request
 *	reply.c		answers to bytes
 *	stream.c	bodies and answers in pieces
 */
#ifndef COMMON_HTTP_INTERNAL_H
#define COMMON_HTTP_INTERNAL_H

#include <llhttp.h>

#include "common/buf.h"
#include "common/http/http_stream.h"

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
	struct http_stream *stream; /* NULL unless its body is streamed */
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
	bool chosen;	     /* its body is to be streamed */
	bool trailing;	     /* its trailer has begun */
	bool unadmitted;     /* its body is not to be read yet */
	char last;	     /* of the bytes the parser has seen */
	char trailer_last;   /* of the trailer's */
	size_t trailer_from; /* offset where it begins in this read, or 0 */
	size_t trailer_len;  /* bytes of it so far */
	uint64_t body_bytes; /* raw, chunk framing included */
	uint32_t url, url_len;
	size_t body, body_len; /* body: offset */
	size_t body_max;
	uint32_t header_len; /* request line and headers, once done */
	int refusal;	     /* status, 0: none */
	const char *refusal_detail;
	struct http_slice path, query; /* once complete */

	uint32_t header_count;
	struct header_ref headers[]; /* config->max_headers */
};

struct connection {
	struct http_listener *listener; /* NULL once that is freed */
	struct connection *prev, *next;
	struct loop_watch *watch;
	struct loop_timer *timer;
	struct http_request *req; /* NULL while idle */
	int fd;			  /* -1 once the client has gone */
	enum connection_phase phase;
	bool processing;  /* in process(), further up the stack */
	bool paused;	  /* more has come than may be read now */
	bool closing;	  /* close once `out` is sent */
	bool linger;	  /* the client may still be sending then */
	bool progress;	  /* the timeout starts anew */
	unsigned handled; /* requests not yet counted in the metrics */
	enum connection_wait wait;
	int64_t since; /* when that wait began */
	int unread;    /* while sending: connection_unread() at that time */
	struct sockaddr_storage peer;
};

struct http_metrics {
	struct metric *accepted, *open, *requests;
	struct metric *malformed, *too_large, *too_slow, *overload;
	struct metric *buffers;
};

struct http_listener {
	struct loop *loop;
	struct loop_watch *watch;
	struct loop_timer *pause; /* accepting again after EMFILE */
	const struct http_config *config;
	http_handler *handler;
	http_stream_choose *choose; /* NULL: nothing is streamed */
	http_handler *stream_handler;
	http_admit *admit; /* NULL: every body is read */
	void *arg;
	struct connection *connections;
	size_t connection_count;
	struct http_request *pool;
	size_t pooled;
	size_t grown; /* over all requests */
	struct http_metrics metrics;
	int fd;
	bool draining;
	struct loop_timer *drain_timer;
	void (*drained)(void *arg);
	void *drained_arg;
	int64_t date_until; /* loop time up to which `date` is right */
	char date[HTTP_DATE_LEN + 1];
};

/* listener.c */
struct http_request *request_acquire(struct http_listener *l);
void request_release(struct http_listener *l, struct http_request *req);
void request_free(struct http_request *req);
const char *listener_date(struct http_listener *l);
void listener_count_refusal(struct http_listener *l, int status);
/* A connection has ended: uncounted, and maybe the drain is over. */
void listener_forget(struct http_listener *l);

/* address.c */
int address_bind(const char *address, bool share, int *ret_fd,
		 struct error *err);

/* connection.c */
/* Takes over `fd`, also on failure.  A surplus one is told 503 and closed. */
int connection_new(struct http_listener *l, int fd,
		   const struct sockaddr_storage *peer, bool surplus,
		   struct error *err);
/* Closes it at once; a request still with its handler stays valid. */
void connection_close(struct connection *conn);
/* For a drain: closes it unless it is in the middle of something. */
void connection_retire(struct connection *conn);
/* The handler has answered into req->out. */
void connection_answered(struct connection *conn);
/* Goes on with what is there to be parsed, shown or sent. */
void connection_continue(struct connection *conn);

/* timeout.c */
/* Sets the timer for what the connection waits for.  The time counts from when
 * it began to wait for that, so that a byte now and then does not put it off.
 */
void connection_set_timeout(struct connection *conn);

/* check.c */
/* Notes why the request is refused; the first reason stays.  Returns -1. */
int request_refuse(struct http_request *req, int status, const char *detail);
/* Checks the finished header block and sets header_len and expects. */
int check_headers(struct http_request *req);
/* Checks the next bytes of the trailer, and a part of a field's name in it. */
int check_trailer(struct http_request *req, const char *bytes, size_t len);
int check_trailer_name(struct http_request *req, const char *name, size_t len);

/* io.c */
bool connection_is_sending(const struct connection *conn);
void connection_hang_up(struct connection *conn);
/* Gives it a request from the pool if it has none.  False: out of memory. */
bool connection_take_request(struct connection *conn);
/* Sends what there is.  False: not all of it is gone yet, or the client is. */
bool connection_flush(struct connection *conn);
/* Bytes sent that the client's system has not acknowledged: falls while a slow
 * client reads, long before there is room to send more. */
int connection_unread(const struct connection *conn);
/* Has anything come that was not read?  Closing would then reset the
 * connection, and the client might lose what it was sent last. */
bool connection_has_input(const struct connection *conn);
void connection_read(struct connection *conn);
/* Moves the request to the front of its buffer, with that much room behind it.
 */
int request_make_room(struct http_request *req, size_t room);
/* Takes what a refused client still sends off the wire. */
void connection_discard(struct connection *conn);

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

/* parse.c */
enum parse_result {
	PARSE_MORE,
	PARSE_COMPLETE,
	PARSE_HEADERS, /* of a request that is to be streamed, or admitted */
	PARSE_REFUSED  /* refusal and refusal_detail are set */
};
enum parse_result parse_request(struct http_request *req);
/* The same for what follows the headers of a streamed request. */
enum parse_result parse_body(struct http_request *req);
/* Sets path and query. */
int parse_target(struct http_request *req);
/* The body that parse_request has stopped before may be read. */
void parse_admitted(struct http_request *req);
/* Is it known to be longer than it may be? */
bool parse_is_too_long(const struct http_request *req);
/* Forgets the request at `start` and goes on to what follows it. */
void parse_next(struct http_request *req);

/* reply.c */
/* A refusal by the server itself; closes. */
void reply_refusal(struct http_request *req, int status, const char *detail);
/* The head of an answer of unknown length. */
void reply_stream_head(struct http_request *req, int status,
		       const struct http_field *fields, bool chunked);

/* stream.c */
/* The headers of a request to be streamed are complete. */
int stream_open(struct connection *conn);
/* The loop's part of it, before the listener goes. */
void stream_stop(struct http_request *req);
void stream_free(struct http_request *req);
bool stream_wants_input(const struct connection *conn);
bool stream_can_step(const struct connection *conn);
/* Parses some of the body, or shows it to the handler, who may end the request
 * by that. */
void stream_step(struct connection *conn);
bool stream_body_done(const struct http_request *req);
/* Nobody is there to be read from or to be answered. */
bool stream_is_lost(const struct http_request *req);
/* Tells the client why, unless its answer has begun. */
void stream_refuse(struct connection *conn, int status, const char *detail);
/* Tells the handler what has become of the client, who may end the request by
 * that. */
void stream_tell(struct connection *conn);
/* Will tell it, if it has not been told. */
void stream_hung_up(struct connection *conn);
/* Completes the open chunk of the answer. */
void stream_seal(struct http_request *req);

#endif
