/* openapi.h - the description of the API, served as JSON. */
#ifndef AGGREGATOR_API_OPENAPI_H
#define AGGREGATOR_API_OPENAPI_H

/* schemas/openapi/aggregator.yaml. */
extern const char openapi_yaml[];

#endif
