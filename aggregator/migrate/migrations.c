#include "aggregator/migrate/migrations.h"

/* Kept by hand: a file that is missing here fails a unit test. */

static const char schema_migrations[] =
#include "schemas/clickhouse/0000_schema_migrations.sql.inc"
	;
static const char clicks[] =
#include "schemas/clickhouse/0001_clicks.sql.inc"
	;
static const char ingest_progress[] =
#include "schemas/clickhouse/0002_ingest_progress.sql.inc"
	;
static const char links[] =
#include "schemas/clickhouse/0003_links.sql.inc"
	;
static const char clicks_hourly[] =
#include "schemas/clickhouse/0004_clicks_hourly.sql.inc"
	;
static const char visit_statistics[] =
#include "schemas/clickhouse/0005_visit_statistics.sql.inc"
	;
static const char stats_hourly[] =
#include "schemas/clickhouse/0006_stats_hourly.sql.inc"
	;
static const char settled[] =
#include "schemas/clickhouse/0007_settled.sql.inc"
	;
static const char reclaim_runs[] =
#include "schemas/clickhouse/0010_reclaim_runs.sql.inc"
	;
static const char links_fields[] =
#include "schemas/clickhouse/0011_links_fields.sql.inc"
	;
static const char ingest_positions[] =
#include "schemas/clickhouse/0012_ingest_positions.sql.inc"
	;
static const char ingest_epochs[] =
#include "schemas/clickhouse/0013_ingest_epochs.sql.inc"
	;
static const char clicks_purpose[] =
#include "schemas/clickhouse/0014_clicks_purpose.sql.inc"
	;
static const char clicks_place_utm[] =
#include "schemas/clickhouse/0015_clicks_place_utm.sql.inc"
	;
static const char import_journal[] =
#include "schemas/clickhouse/0017_import_journal.sql.inc"
	;
static const char rescored[] =
#include "schemas/clickhouse/0020_rescored.sql.inc"
	;
static const char server_clock[] =
#include "schemas/clickhouse/0023_server_clock.sql.inc"
	;
static const char epochs_per_partition[] =
#include "schemas/clickhouse/0024_epochs_per_partition.sql.inc"
	;
static const char link_days[] =
#include "schemas/clickhouse/0025_link_days.sql.inc"
	;
static const char settled_kinds[] =
#include "schemas/clickhouse/0026_settled_kinds.sql.inc"
	;
static const char links_account[] =
#include "schemas/clickhouse/0028_links_account.sql.inc"
	;
static const char import_numbers[] =
#include "schemas/clickhouse/0029_import_numbers.sql.inc"
	;
static const char sealed_slots[] =
#include "schemas/clickhouse/0031_sealed_slots.sql.inc"
	;
static const char redirector_counters[] =
#include "schemas/clickhouse/0032_redirector_counters.sql.inc"
	;
static const char links_list[] =
#include "schemas/clickhouse/0033_links_list.sql.inc"
	;
static const char dropped_days[] =
#include "schemas/clickhouse/0034_dropped_days.sql.inc"
	;
static const char kept_from[] =
#include "schemas/clickhouse/0035_kept_from.sql.inc"
	;
static const char owner_days[] =
#include "schemas/clickhouse/0036_owner_days.sql.inc"
	;
static const char forgotten[] =
#include "schemas/clickhouse/0037_forgotten.sql.inc"
	;
static const char merged_months[] =
#include "schemas/clickhouse/0038_merged_months.sql.inc"
	;
static const char stats_rollups[] =
#include "schemas/clickhouse/0039_stats_rollups.sql.inc"
	;
static const char open_hours[] =
#include "schemas/clickhouse/0040_open_hours.sql.inc"
	;
static const char owners_of_clicks[] =
#include "schemas/clickhouse/0041_owners_of_clicks.sql.inc"
	;
static const char collectors[] =
#include "schemas/clickhouse/0042_collectors.sql.inc"
	;
static const char reconciled_hours[] =
#include "schemas/clickhouse/0043_reconciled_hours.sql.inc"
	;
static const char links_passing[] =
#include "schemas/clickhouse/0044_links_passing.sql.inc"
	;
static const char withheld_events[] =
#include "schemas/clickhouse/0045_withheld_events.sql.inc"
	;
static const char clicks_trace[] =
#include "schemas/clickhouse/0046_clicks_trace.sql.inc"
	;
static const char reconciled_seals[] =
#include "schemas/clickhouse/0047_reconciled_seals.sql.inc"
	;
static const char rescored_owners[] =
#include "schemas/clickhouse/0048_rescored_owners.sql.inc"
	;
static const char repeated_clicks[] =
#include "schemas/clickhouse/0049_repeated_clicks.sql.inc"
	;
static const char day_values[] =
#include "schemas/clickhouse/0050_day_values.sql.inc"
	;
static const char stats_spans[] =
#include "schemas/clickhouse/0052_stats_spans.sql.inc"
	;
static const char links_found[] =
#include "schemas/clickhouse/0053_links_found.sql.inc"
	;
static const char hourly_merges[] =
#include "schemas/clickhouse/0054_hourly_merges.sql.inc"
	;
static const char marked_clicks[] =
#include "schemas/clickhouse/0055_marked_clicks.sql.inc"
	;
static const char passed_offsets[] =
#include "schemas/clickhouse/0056_passed_offsets.sql.inc"
	;
static const char import_undo[] =
#include "schemas/clickhouse/0057_import_undo.sql.inc"
	;

const struct migration migrations[] = {
	{"0000_schema_migrations.sql", schema_migrations},
	{"0001_clicks.sql", clicks},
	{"0002_ingest_progress.sql", ingest_progress},
	{"0003_links.sql", links},
	{"0004_clicks_hourly.sql", clicks_hourly},
	{"0005_visit_statistics.sql", visit_statistics},
	{"0006_stats_hourly.sql", stats_hourly},
	{"0007_settled.sql", settled},
	{"0010_reclaim_runs.sql", reclaim_runs},
	{"0011_links_fields.sql", links_fields},
	{"0012_ingest_positions.sql", ingest_positions},
	{"0013_ingest_epochs.sql", ingest_epochs},
	{"0014_clicks_purpose.sql", clicks_purpose},
	{"0015_clicks_place_utm.sql", clicks_place_utm},
	{"0017_import_journal.sql", import_journal},
	{"0020_rescored.sql", rescored},
	{"0023_server_clock.sql", server_clock},
	{"0024_epochs_per_partition.sql", epochs_per_partition},
	{"0025_link_days.sql", link_days},
	{"0026_settled_kinds.sql", settled_kinds},
	{"0028_links_account.sql", links_account},
	{"0029_import_numbers.sql", import_numbers},
	{"0031_sealed_slots.sql", sealed_slots},
	{"0032_redirector_counters.sql", redirector_counters},
	{"0033_links_list.sql", links_list},
	{"0034_dropped_days.sql", dropped_days},
	{"0035_kept_from.sql", kept_from},
	{"0036_owner_days.sql", owner_days},
	{"0037_forgotten.sql", forgotten},
	{"0038_merged_months.sql", merged_months},
	{"0039_stats_rollups.sql", stats_rollups},
	{"0040_open_hours.sql", open_hours},
	{"0041_owners_of_clicks.sql", owners_of_clicks},
	{"0042_collectors.sql", collectors},
	{"0043_reconciled_hours.sql", reconciled_hours},
	{"0044_links_passing.sql", links_passing},
	{"0045_withheld_events.sql", withheld_events},
	{"0046_clicks_trace.sql", clicks_trace},
	{"0047_reconciled_seals.sql", reconciled_seals},
	{"0048_rescored_owners.sql", rescored_owners},
	{"0049_repeated_clicks.sql", repeated_clicks},
	{"0050_day_values.sql", day_values},
	{"0052_stats_spans.sql", stats_spans},
	{"0053_links_found.sql", links_found},
	{"0054_hourly_merges.sql", hourly_merges},
	{"0055_marked_clicks.sql", marked_clicks},
	{"0056_passed_offsets.sql", passed_offsets},
	{"0057_import_undo.sql", import_undo},
};
const size_t migration_count = sizeof(migrations) / sizeof(migrations[0]);
