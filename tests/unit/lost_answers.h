/*
 * lost_answers.h - loses one of ClickHouse's answers, in place of libcurl.
 */
#ifndef TESTS_UNIT_LOST_ANSWERS_H
#define TESTS_UNIT_LOST_ANSWERS_H

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum fault {
	NOT_SENT, /* the statement is not executed */
	LOST	  /* the statement is executed, but its response is lost */
};

static struct {
	int in; /* the in-th request from now on; 0: none */
	enum fault how;
} lost;

/* Replaces libcurl's function. */
CURLcode curl_easy_perform(CURL *curl)
{
	CURLcode (*perform)(CURL *);
	void *found = dlsym(RTLD_NEXT, "curl_easy_perform");
	bool fails = lost.in && !--lost.in;

	memcpy(&perform, &found, sizeof(perform));
	if (fails && lost.how == NOT_SENT)
		return CURLE_COULDNT_CONNECT;
	if (perform(curl) != CURLE_OK || fails)
		return CURLE_RECV_ERROR;
	return CURLE_OK;
}

#endif
