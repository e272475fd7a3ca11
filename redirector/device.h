/*
 * device.h - what a visitor's device is taken for, by its User-Agent.
 *
 * Only as good as that header is.  An iPad that asks for desktop sites, as they
 * do from iPadOS 13 on, says "Macintosh" like any Mac and cannot be told.
 */
#ifndef REDIRECTOR_DEVICE_H
#define REDIRECTOR_DEVICE_H

#include "common/http/http_server.h"
#include "schemas/link.pb-c.h"

/* Values of Shortloop__Device: 0 to DEVICES - 1. */
#define DEVICES 4

/* WeChat's browser before what it runs on, iOS before Android (which some
 * browsers of other systems name, too). */
Shortloop__Device device_of(struct http_slice user_agent);

#endif
