/*
 * sent.h - what becomes of one command on its way to Redis: another client acts
 * before it is sent, or a Lua expression answers in its place.
 *
 * Stands in for hiredis' functions in the program that includes it.
 */
#ifndef TESTS_UNIT_LINKSTORE_SENT_H
#define TESTS_UNIT_LINKSTORE_SENT_H

#include "tests/unit/linkstore/fixture.h"

#include <dlfcn.h>
#include <hiredis/async.h>

static struct {
	const char *word; /* that the command has in it; NULL: none is meant */
	int passes;	  /* those that have it and go their way before */
	void (*act)(struct fixture *f);
	struct fixture *f;
	const char *answer;
} sent;

static inline bool sent_is_meant(const char *cmd, size_t len)
{
	if (!sent.word || !memmem(cmd, len, sent.word, strlen(sent.word)) ||
	    sent.passes-- > 0)
		return false;
	sent.word = NULL;
	return true;
}

/* Returns the command that goes in its place, to be freed; NULL: it goes. */
static inline char *sent_instead(const char *cmd, size_t len)
{
	char *instead, script[256];

	if (!sent_is_meant(cmd, len))
		return NULL;
	if (sent.act) {
		sent.act(sent.f);
		return NULL;
	}
	snprintf(script, sizeof(script), "return %s", sent.answer);
	assert_true(redisFormatCommand(&instead, "EVAL %s 0", script) > 0);
	return instead;
}

int redisAppendFormattedCommand(redisContext *c, const char *cmd, size_t len)
{
	int (*append)(redisContext *, const char *, size_t);
	void *found = dlsym(RTLD_NEXT, "redisAppendFormattedCommand");
	char *instead = sent_instead(cmd, len);
	int status;

	memcpy(&append, &found, sizeof(append));
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
	char *instead = sent_instead(cmd, len);
	int status;

	memcpy(&send, &found, sizeof(send));
	status = instead ? send(c, fn, arg, instead, strlen(instead))
			 : send(c, fn, arg, cmd, len);
	free(instead);
	return status;
}

/* Before the next command that has the word. */
static inline void act_before(struct fixture *f, const char *word,
			      void (*act)(struct fixture *f))
{
	memset(&sent, 0, sizeof(sent));
	sent.f = f;
	sent.act = act;
	sent.word = word;
}

/* The next command that has the word, after `passes` others, is answered by
 * what the Lua expression gives. */
static inline void answer_with(const char *word, int passes, const char *answer)
{
	memset(&sent, 0, sizeof(sent));
	sent.answer = answer;
	sent.passes = passes;
	sent.word = word;
}

static inline void assert_command_was_met(void)
{
	assert_null(sent.word);
}

/* Fails so when that is the answer to the next command that has the word. */
#define fails_when(f, word, lua, call, code)                                   \
	do {                                                                   \
		answer_with(word, 0, lua);                                     \
		must_fail(f, call, code);                                      \
		assert_command_was_met();                                      \
	} while (0)

#endif
