/*
 * owner_days.h - clicks of owners by UTC day, in tables of their own
 * (schemas/clickhouse/owner_slots.sql): by slot with visitors, and by the
 * values of each settled dimension.  SQL: the digests that owner_slots keeps of
 * a visitor and of an address; see there.
 */
#ifndef AGGREGATOR_SETTLE_OWNER_DAYS_H
#define AGGREGATOR_SETTLE_OWNER_DAYS_H

#define SQL_OWNER_VISITOR                                                      \
	"toUInt32(bitShiftRight(cityHash64(unique_identity), 32))"
#define SQL_OWNER_ADDRESS                                                      \
	"toUInt32(bitShiftRight(cityHash64(reinterpretAsFixedString(ip)), "    \
	"32))"

#endif
