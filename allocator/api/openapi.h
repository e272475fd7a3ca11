/* openapi.h - the description of the API, schemas/openapi/allocator.yaml. */
#ifndef ALLOCATOR_API_OPENAPI_H
#define ALLOCATOR_API_OPENAPI_H

#include "common/buf.h"
#include "common/error.h"

/* Appends it as JSON. */
int openapi_write(struct buf *out, struct error *err);

#endif
