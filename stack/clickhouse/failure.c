#include "stack/clickhouse/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failure_name {
	enum failure_code code;
	const char *text;
};

static const struct failure_name names[] = {
	{FAILURE_UNKNOWN_TYPE_OF_QUERY, "UNKNOWN_TYPE_OF_QUERY"},
	{FAILURE_BAD_ARGUMENTS, "BAD_ARGUMENTS"},
	{FAILURE_NOT_IMPLEMENTED, "NOT_IMPLEMENTED"},
	{FAILURE_SYNTAX_ERROR, "SYNTAX_ERROR"},
	{FAILURE_UNKNOWN_SETTING, "UNKNOWN_SETTING"},
	{FAILURE_QUERY_IS_TOO_LARGE, "QUERY_IS_TOO_LARGE"},
	{FAILURE_READONLY, "READONLY"},
	{FAILURE_TOO_MANY_QUERIES, "TOO_MANY_SIMULTANEOUS_QUERIES"},
	{FAILURE_CANNOT_DECOMPRESS, "CANNOT_DECOMPRESS"},
	{FAILURE_SAME_ID_IS_RUNNING, "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING"},
	{FAILURE_QUERY_WAS_CANCELLED, "QUERY_WAS_CANCELLED"},
	{FAILURE_SESSION_NOT_FOUND, "SESSION_NOT_FOUND"},
	{FAILURE_SESSION_IS_LOCKED, "SESSION_IS_LOCKED"},
	{FAILURE_AUTHENTICATION, "AUTHENTICATION_FAILED"},
	{FAILURE_STD_EXCEPTION, "STD_EXCEPTION"},
};

static const char *name_of(enum failure_code code)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].text;
	return "STD_EXCEPTION";
}

int failure_set(struct error *err, enum failure_code code, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return error_set(err, ERROR_INPUT, "Code: %d. DB::Exception: %s. (%s)",
			 (int)code, text, name_of(code));
}

int failure_code_of(const char *text)
{
	static const char lead[] = "Code: ";
	int code = 0;

	if (strncmp(text, lead, sizeof(lead) - 1) == 0)
		code = (int)strtol(text + sizeof(lead) - 1, NULL, 10);
	return code > 0 ? code : FAILURE_STD_EXCEPTION;
}

/* The groups of ClickHouse's exceptionCodeToHTTPStatus; numbers as in its
 * ErrorCodes.cpp. */
int failure_http_status(int code)
{
	switch (code) {
	case 194: /* REQUIRED_PASSWORD */
		return 401;
	case 192: /* UNKNOWN_USER */
	case 193: /* WRONG_PASSWORD */
	case 497: /* ACCESS_DENIED */
	case 516: /* AUTHENTICATION_FAILED */
		return 403;
	case 36:  /* BAD_ARGUMENTS */
	case 6:	  /* CANNOT_PARSE_TEXT */
	case 25:  /* CANNOT_PARSE_ESCAPE_SEQUENCE */
	case 26:  /* CANNOT_PARSE_QUOTED_STRING */
	case 27:  /* CANNOT_PARSE_INPUT_ASSERTION_FAILED */
	case 33:  /* CANNOT_READ_ALL_DATA */
	case 38:  /* CANNOT_PARSE_DATE */
	case 41:  /* CANNOT_PARSE_DATETIME */
	case 43:  /* ILLEGAL_TYPE_OF_ARGUMENT */
	case 53:  /* TYPE_MISMATCH */
	case 62:  /* SYNTAX_ERROR */
	case 69:  /* ARGUMENT_OUT_OF_BOUND */
	case 70:  /* CANNOT_CONVERT_TYPE */
	case 72:  /* CANNOT_PARSE_NUMBER */
	case 117: /* INCORRECT_DATA */
	case 125: /* INCORRECT_RESULT_OF_SCALAR_SUBQUERY */
	case 271: /* CANNOT_DECOMPRESS */
	case 321: /* VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE */
	case 427: /* CANNOT_COMPILE_REGEXP */
	case 457: /* BAD_QUERY_PARAMETER */
		return 400;
	case 46:  /* UNKNOWN_FUNCTION */
	case 47:  /* UNKNOWN_IDENTIFIER */
	case 50:  /* UNKNOWN_TYPE */
	case 56:  /* UNKNOWN_STORAGE */
	case 60:  /* UNKNOWN_TABLE */
	case 63:  /* UNKNOWN_AGGREGATE_FUNCTION */
	case 73:  /* UNKNOWN_FORMAT */
	case 78:  /* UNKNOWN_TYPE_OF_QUERY */
	case 81:  /* UNKNOWN_DATABASE */
	case 115: /* UNKNOWN_SETTING */
	case 372: /* SESSION_NOT_FOUND */
		return 404;
	case 159: /* TIMEOUT_EXCEEDED */
		return 408;
	case 229: /* QUERY_IS_TOO_LARGE */
		return 413;
	case 48: /* NOT_IMPLEMENTED */
		return 501;
	case 202: /* TOO_MANY_SIMULTANEOUS_QUERIES */
	case 209: /* SOCKET_TIMEOUT */
		return 503;
	default:
		return 500;
	}
}
