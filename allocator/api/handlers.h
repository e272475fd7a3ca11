/*
 * handlers.h - the handlers that api.c dispatches requests to.  Each answers
 * its request, at once or later.
 */
#ifndef ALLOCATOR_API_HANDLERS_H
#define ALLOCATOR_API_HANDLERS_H

#include "allocator/api/api_context.h"

typedef void api_handler(const struct api_call *call);

api_handler handle_create;	/* create_link.c */
api_handler handle_batch;	/* create_batch.c */
api_handler handle_read;	/* read_link.c */
api_handler handle_edit;	/* edit_batch.c */
api_handler handle_edit_filter; /* edit_filter.c */
/* change_link.c */
api_handler handle_patch, handle_delete, handle_restore;
/* blocked_urls.c */
api_handler handle_blocked_urls, handle_block_url, handle_lift_url;
api_handler handle_qr;			 /* qr_link.c */
api_handler handle_why;			 /* why_link.c */
api_handler handle_spaces, handle_space; /* spaces.c */
api_handler handle_me;			 /* me.c */
api_handler handle_options;		 /* options.c */

#endif
