#include "aggregator/api/openapi.h"

const char openapi_yaml[] =
#include "schemas/openapi/aggregator.yaml.inc"
	;
