/*
 * http_server.h - the HTTP/1.1 server of every program that listens.
 *
 * There is one listener per loop; several threads share a port through
 * SO_REUSEPORT.  llhttp parses, in strict mode, and what it accepts wrongly is
 * checked again.  These are a 400, and the connection is closed: both
 * Content-Length and Transfer-Encoding, a transfer coding other than chunked, a
 * bare CR or LF, a folded header, a doubled Content-Length or Host, a missing
 * Host (1.1), a space before the colon, a bad chunk or trailer, a target of "*"
 * for anything but OPTIONS.  A trailer is read, within the limits of a header
 * block, and dropped.  Other refusals, closing too: 408 (slow), 413, 414 (the
 * request line alone is longer than a header block may be), 417 (unknown
 * expectation), 431, 501 (CONNECT, a method that llhttp does not know, a coding
 * before chunked), 503 (too many connections or too much memory in bodies), 505
 * (not HTTP/1).  Their bodies are problem+json.
 * tests/integration/support/http_cases.py lists them all.
 *
 * Requests of one connection are answered in order; the next is parsed once the
 * current one has been answered.  Answers to pipelined requests that arrive in
 * one read are sent in one write.
 *
 * A handler is called once the request is complete, body included, and calls
 * one of the http_reply functions exactly once: at once, or later on the same
 * loop's thread.  Until then the request and all its strings stay valid, also
 * when the client has gone (the reply is then dropped) or the listener was
 * freed.  After the reply they are invalid.
 *
 * stream.h is for bodies and answers that are too long to be held whole.
 *
 * With `Expect: 100-continue` the server answers 100 itself.  HEAD is passed to
 * the handler as HEAD; a body given to a reply is then counted in
 * Content-Length but not sent.
 */
#ifndef COMMON_HTTP_HTTP_SERVER_H
#define COMMON_HTTP_HTTP_SERVER_H

#include "common/http/http_config.h"
#include "common/http/listener.h"
#include "common/http/reply.h"
#include "common/http/request.h"

#endif
