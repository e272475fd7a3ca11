#include "common/http/problem_type.h"

#include <stddef.h>

static const struct {
	int status;
	const char *type;
} types[] = {
	{400, "/problems/invalid"},
	{401, "/problems/key-unknown"},
	{403, "/problems/forbidden"},
	{404, "/problems/not-found"},
	{405, "/problems/method"},
	{406, "/problems/not-acceptable"},
	{408, "/problems/too-slow"},
	{409, "/problems/conflict"},
	{410, "/problems/gone"},
	{412, "/problems/changed"},
	{413, "/problems/too-large"},
	{414, "/problems/too-long"},
	{415, "/problems/content-type"},
	{417, "/problems/expectation"},
	{422, "/problems/idempotency-key"},
	{429, "/problems/too-many"},
	{431, "/problems/headers"},
	{451, "/problems/blocked"},
	{500, "/problems/internal"},
	{501, "/problems/not-implemented"},
	{503, "/problems/unavailable"},
	{505, "/problems/http-version"},
	{507, "/problems/full"},
};

const char *problem_type_of(int status)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].status == status)
			return types[i].type;
	}
	return "about:blank";
}
