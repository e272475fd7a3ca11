/* GET /v1/openapi.json: the description of the API, to anybody. */
#include "allocator/api/openapi.h"

#include "allocator/api/handlers.h"
#include "common/yaml_json.h"

static const char yaml[] =
#include "schemas/openapi/allocator.yaml.inc"
	;

int openapi_write(struct buf *out, struct error *err)
{
	return yaml_to_json(yaml, out, err);
}

void handle_openapi(const struct api_call *call)
{
	static const struct http_field fields[] = {
		{"Content-Type", "application/json"},
		{"Cache-Control", "no-cache"},
		{"Access-Control-Allow-Origin", "*"},
		{0}};

	http_reply(call->req, 200, fields, call->api->openapi->data,
		   call->api->openapi->len);
}
