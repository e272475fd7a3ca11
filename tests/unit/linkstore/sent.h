/*
 * sent.h - interferes with one command on its way to Redis: another client acts
 * before the command is sent, a Lua expression replaces its reply, or its
 * connection is lost.
 *
 * It replaces hiredis' functions in the program that includes it.
 */
#ifndef TESTS_UNIT_LINKSTORE_SENT_H
#define TESTS_UNIT_LINKSTORE_SENT_H

#include "tests/unit/linkstore/fixture.h"

#include <dlfcn.h>
#include <hiredis/async.h>
#include <sys/socket.h>

static struct {
	const char *word; /* the command contains this word; NULL: no command */
	int passes;	  /* commands with the word that are sent before it */
	void (*act)(struct fixture *f);
	struct fixture *f;
	const char *answer;
	enum loss {
		LOST_BEFORE = 1, /* it cannot be sent */
		LOST_AFTER,	 /* no reply arrives */
	} loss;
} sent;

static inline bool sent_is_meant(const char *cmd, size_t len)
{
	if (!sent.word || !memmem(cmd, len, sent.word, strlen(sent.word)) ||
	    sent.passes-- > 0)
		return false;
	sent.word = NULL;
	return true;
}

/* Returns the command that replaces the chosen one, to be freed; NULL: the
 * chosen command itself is sent. */
static inline char *sent_instead(void)
{
	char *instead, script[256];

	if (sent.act)
		sent.act(sent.f);
	if (!sent.answer)
		return NULL;
	snprintf(script, sizeof(script), "return %s", sent.answer);
	assert_true(redisFormatCommand(&instead, "EVAL %s 0", script) > 0);
	return instead;
}

int redisAppendFormattedCommand(redisContext *c, const char *cmd, size_t len)
{
	int (*append)(redisContext *, const char *, size_t);
	void *found = dlsym(RTLD_NEXT, "redisAppendFormattedCommand");
	char *instead = NULL;
	int status;

	memcpy(&append, &found, sizeof(append));
	if (sent_is_meant(cmd, len)) {
		if (sent.loss == LOST_BEFORE)
			return REDIS_ERR;
		if (sent.loss == LOST_AFTER)
			shutdown(c->fd, SHUT_RDWR);
		instead = sent_instead();
	}
	status = instead ? append(c, instead, strlen(instead))
			 : append(c, cmd, len);
	free(instead);
	return status;
}

int redisAsyncFormattedCommand(redisAsyncContext *c, redisCallbackFn *fn,
			       void *arg, const char *cmd, size_t len)
{
	int (*send)(redisAsyncContext *, redisCallbackFn *, void *,
		    const char *, size_t);
	void *found = dlsym(RTLD_NEXT, "redisAsyncFormattedCommand");
	char *instead = sent_is_meant(cmd, len) ? sent_instead() : NULL;
	int status;

	memcpy(&send, &found, sizeof(send));
	status = instead ? send(c, fn, arg, instead, strlen(instead))
			 : send(c, fn, arg, cmd, len);
	free(instead);
	return status;
}

/* Calls `act` before the next command with the word. */
static inline void act_before(struct fixture *f, const char *word,
			      void (*act)(struct fixture *f))
{
	memset(&sent, 0, sizeof(sent));
	sent.f = f;
	sent.act = act;
	sent.word = word;
}

/* The Lua expression replaces the reply to the next command with the word,
 * after `passes` others. */
static inline void answer_with(const char *word, int passes, const char *answer)
{
	memset(&sent, 0, sizeof(sent));
	sent.answer = answer;
	sent.passes = passes;
	sent.word = word;
}

/* The blocking connection is lost at the next command with the word, after
 * `passes` others. */
static inline void lose_at(const char *word, int passes, enum loss loss)
{
	memset(&sent, 0, sizeof(sent));
	sent.loss = loss;
	sent.passes = passes;
	sent.word = word;
}

/* Stops waiting for the command; returns whether it was not sent. */
static inline bool end_waiting(void)
{
	bool waited = sent.word != NULL;

	sent.word = NULL;
	return waited;
}

static inline void assert_command_was_met(void)
{
	assert_null(sent.word);
}

/* The call must fail with this code if that is the reply to the next command
 * with the word. */
#define fails_when(f, word, lua, call, code)                                   \
	do {                                                                   \
		answer_with(word, 0, lua);                                     \
		must_fail(f, call, code);                                      \
		assert_command_was_met();                                      \
	} while (0)

#endif
