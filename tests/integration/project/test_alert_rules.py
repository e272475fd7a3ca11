"""When alert rules fire and when they do not, by promtool's own evaluation."""
import subprocess

import pytest
import yaml

from support.alerts import RULES, promtool, rules_of

PROMTOOL = promtool()

pytestmark = pytest.mark.skipif(not PROMTOOL, reason="there is no promtool")

# For each rule: series with one value a minute, in promtool's notation; the minutes at
# which it fires, with its labels beside those of the rule; the minutes at which it does
# not.
LOST = 'shortloop_aggregator_lost_events{between="%s",instance="%s"}'
SURPLUS = 'shortloop_aggregator_surplus_events{between="%s",instance="%s"}'
OWNED = 'shortloop_aggregator_lease_owned{instance="%s"}'
UNKNOWN = 'shortloop_aggregator_unknown_hours{instance="a"}'
RECONCILED = 'shortloop_aggregator_reconciled_hours{instance="a"}'
UNTIL = 'shortloop_aggregator_reconciled_until_seconds{instance="a"}'
ANSWERS = 'shortloop_redirector_answers_total{status="%s",instance="a"}'
BREAKERS = 'shortloop_redirector_breakers{of="%s",state="open",instance="a"}'
DROPPED = ('shortloop_redirector_events_dropped_total{reason="%s",'
           'instance="a"}')
OLDEST = 'shortloop_redirector_spool_oldest_seconds{instance="a"}'
STOPPED = 'shortloop_collector_stopped{topic="t",partition="%s",instance="a"}'
LAG = 'shortloop_collector_lag_events{topic="t",instance="a"}'
CONSUMED = 'shortloop_collector_consumed_total{instance="a"}'
ONCE = 'shortloop_collector_exactly_once{instance="%s"}'
SPACE = 'shortloop_space_%s{space="s7",instance="%s"}'
CREATES = 'shortloop_allocator_creates_total{outcome="%s",instance="a"}'
# A counter that rises in the tenth minute, with an alert at once.
ONCE_UP = "0x9 1x80"
IN_SPACE, AT_A = {"space": "s7"}, {"instance": "a"}

CASES = [
    # Events are lost from the tenth minute on; the alert comes half an hour later, and
    # ends when they are no longer missing.
    ("aggregator", "ShortloopEventsMissing",
     {LOST % ("acknowledged_stored", "a"): "0x9 3x60 0x60",
      LOST % ("stored_settled", "a"): "0x130", OWNED % "a": "1x130"},
     {41: [{"between": "acknowledged_stored"}], 69: [{"between": "acknowledged_stored"}]},
     [9, 39, 71]),
    # The value is from another aggregator, while it had the lease.
    ("aggregator", "ShortloopEventsMissing",
     {LOST % ("acknowledged_stored", "a"): "5x90", OWNED % "a": "0x90",
      LOST % ("acknowledged_stored", "b"): "0x90", OWNED % "b": "1x90"}, {}, [40, 90]),
    # The alert continues with the next owner of the lease.
    ("aggregator", "ShortloopEventsMissing",
     {LOST % ("answered_produced", "a"): "5x90", OWNED % "a": "1x20 0x70",
      LOST % ("answered_produced", "b"): "5x90", OWNED % "b": "0x20 1x70"},
     {35: [{"between": "answered_produced"}]}, [29]),
    ("aggregator", "ShortloopEventsTwice",
     {SURPLUS % ("stored_settled", "a"): "0x9 1x60", OWNED % "a": "1x70",
      LOST % ("stored_settled", "a"): "0x70"},
     {41: [{"between": "stored_settled"}]}, [39]),
    ("aggregator", "ShortloopCountersMissing",
     {UNKNOWN: "2x180", RECONCILED: "22x180", OWNED % "a": "1x180"},
     {121: [{}]}, [119]),
    # No redirector reports: they are older versions, or there is no topic.
    ("aggregator", "ShortloopCountersMissing",
     {UNKNOWN: "24x180", RECONCILED: "0x180", OWNED % "a": "1x180"}, {}, [180]),
    # Time begins at 0 in these tests, and a delay of three hours and a quarter is
    # permitted.
    ("aggregator", "ShortloopNotReconciled", {UNTIL: "60x300"}, {197: [{}]}, [195]),
    ("aggregator", "ShortloopNotReconciled", {UNTIL: "60+60x300"}, {}, [197, 300]),
    ("redirector", "ShortloopVisitsFail",
     {ANSWERS % "302": "0+1000x60", ANSWERS % "503": "0+20x60"},
     {20: [{"instance": "a"}]}, [3]),
    ("redirector", "ShortloopVisitsFail",
     {ANSWERS % "302": "0+1000x60", ANSWERS % "503": "0+5x60"}, {}, [20, 60]),
    ("redirector", "ShortloopLookupsPause", {BREAKERS % "master": "0x9 2x20"},
     {13: [{"instance": "a"}]}, [11]),
    ("redirector", "ShortloopLookupsPause", {BREAKERS % "replica": "2x30"}, {}, [30]),
    ("redirector", "ShortloopReplicasUnused", {BREAKERS % "replica": "2x30"},
     {11: [{"instance": "a"}]}, [9]),
    ("redirector", "ShortloopEventsDropped",
     {DROPPED % "spool_full": "0x9 7x60", DROPPED % "queue_full": "0x70"},
     {11: [{"instance": "a", "reason": "spool_full"}]}, [9, 30]),
    ("redirector", "ShortloopSpoolMissing",
     {'shortloop_redirector_spool_missing{instance="a"}': "0x30",
      'shortloop_redirector_journal_missing{instance="a"}': "0x9 1x20"},
     {16: [{"instance": "a"}]}, [13]),
    ("redirector", "ShortloopEventsWait", {OLDEST: "0+60x40"},
     {17: [{"instance": "a"}]}, [10, 14]),
    ("collector", "ShortloopNotExactlyOnce", {ONCE % "a": "1x30", ONCE % "b": "1x9 0x20"},
     {16: [{}]}, [13]),
    ("collector", "ShortloopPartitionStopped",
     {STOPPED % "0": "0x30", STOPPED % "1": "0x9 1x20"},
     {16: [{"topic": "t", "partition": "1"}]}, [13]),
    # The collector is six minutes behind, then three.
    ("collector", "ShortloopCollectorBehind",
     {LAG: "460000x40", CONSUMED: "0+60000x40"}, {21: [{"topic": "t"}]}, [14]),
    ("collector", "ShortloopCollectorBehind",
     {LAG: "280000x40", CONSUMED: "0+60000x40"}, {}, [40]),
    ("redirector", "ShortloopRequestsRefused",
     {'shortloop_http_refused_total{listener="redirector",reason="overload",'
      'instance="a"}': "0+1x30"},
     {8: [{**AT_A, "listener": "redirector", "reason": "overload"}]}, [4]),
    ("redirector", "ShortloopChangesUnheard",
     {'shortloop_redirector_subscribed{instance="a"}': "1x9 0x20"},
     {16: [AT_A]}, [13]),
    ("redirector", "ShortloopReloadRejected",
     {'shortloop_redirector_reload_failures_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 75]),
    ("redirector", "ShortloopKeysMissing",
     {'shortloop_space_keys_missing{space="s7",instance="a"}': "0x9 1x20"},
     {16: [{**AT_A, **IN_SPACE}]}, [13]),
    ("redirector", "ShortloopLimitsForget",
     {'shortloop_redirector_limits_forgotten_total{instance="a"}': "0+1x60"},
     {33: [AT_A]}, [29]),
    ("collector", "ShortloopOffsetsLost",
     {'shortloop_collector_lost_offsets_total{topic="t",instance="a"}': ONCE_UP},
     {12: [{**AT_A, "topic": "t"}]}, [9, 75]),
    ("collector", "ShortloopOffsetsPassedOver",
     {'shortloop_collector_passed_offsets_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 75]),
    ("collector", "ShortloopInsertsFail",
     {'shortloop_collector_breaker_open{instance="a"}': "0x9 1x20"},
     {16: [AT_A]}, [13]),
    ("collector", "ShortloopDeadLetters",
     {'shortloop_collector_dead_lettered_total{topic="t",instance="a"}': ONCE_UP},
     {12: [{**AT_A, "topic": "t"}]}, [9, 75]),
    ("collector", "ShortloopCollectorReloadRejected",
     {'shortloop_collector_reload_failures_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 75]),
    ("allocator", "ShortloopSpaceRunsOut",
     {SPACE % ("exhaustion_with_reclaim_seconds", "a"): "2500000x500",
      SPACE % ("exhaustion_with_reclaim_seconds", "b"): "9000000x500"},
     {361: [IN_SPACE]}, [359]),
    ("allocator", "ShortloopSpaceRunsOut",
     {SPACE % ("exhaustion_with_reclaim_seconds", "a"): "2700000x500"}, {}, [500]),
    ("allocator", "ShortloopSpaceRunsOutSoon",
     {SPACE % ("exhaustion_with_reclaim_seconds", "a"): "250000x30"},
     {16: [IN_SPACE]}, [14]),
    ("allocator", "ShortloopSpaceNeedsReclaim",
     {SPACE % ("exhaustion_seconds", "a"): "2500000x500",
      SPACE % ("due_blocks", "a"): "7x500",
      SPACE % ("reclaimed_blocks_per_day", "a"): "0x500"}, {361: [IN_SPACE]}, [359]),
    ("allocator", "ShortloopSpaceNeedsReclaim",
     {SPACE % ("exhaustion_seconds", "a"): "2500000x500",
      SPACE % ("due_blocks", "a"): "7x500",
      SPACE % ("reclaimed_blocks_per_day", "a"): "1x500"}, {}, [500]),
    # The number never falls, whether more blocks become due or not; of two allocators
    # that read it, one may be new.
    ("allocator", "ShortloopReclaimStands",
     {SPACE % ("due_blocks", "a"): "7x800 8+1x700",
      SPACE % ("due_blocks", "b"): "_x1400 8+1x100"}, {1445: [IN_SPACE]}, [1435]),
    # One run a day, and one every ten minutes that never finishes the due blocks.
    ("allocator", "ShortloopReclaimStands",
     {SPACE % ("due_blocks", "a"): "1+1x1410 1+1x100"}, {}, [1445, 1500]),
    ("allocator", "ShortloopReclaimStands",
     {SPACE % ("due_blocks", "a"): " ".join(["50+10x9"] * 150)}, {}, [1445]),
    ("allocator", "ShortloopPoolWaits",
     {SPACE % ("pooled_blocks", "a"): "0x90", SPACE % ("quarantined_blocks", "a"): "9x90",
      SPACE % ("issued_blocks_per_day", "a"): "8x90",
      SPACE % ("cursor_blocks", "a"): "91x90",
      SPACE % ("capacity_blocks", "a"): "100x90"}, {61: [IN_SPACE]}, [59]),
    ("allocator", "ShortloopPoolWaits",
     {SPACE % ("pooled_blocks", "a"): "0x90", SPACE % ("quarantined_blocks", "a"): "9x90",
      SPACE % ("issued_blocks_per_day", "a"): "8x90",
      SPACE % ("cursor_blocks", "a"): "89x90",
      SPACE % ("capacity_blocks", "a"): "100x90"}, {}, [90]),
    ("allocator", "ShortloopBlocksLost", {SPACE % ("lost_blocks", "a"): "3x20 4x60"},
     {33: [IN_SPACE]}, [20, 30]),
    ("allocator", "ShortloopRedisForgot", {SPACE % ("redis_forgot", "a"): ONCE_UP},
     {12: [IN_SPACE]}, [9, 75]),
    ("allocator", "ShortloopLedgerStale",
     {SPACE % ("read_timestamp_seconds", "a"): "0x60"}, {22: [IN_SPACE]}, [19]),
    # One of two allocators that read it is enough.
    ("allocator", "ShortloopLedgerStale",
     {SPACE % ("read_timestamp_seconds", "a"): "0x60",
      SPACE % ("read_timestamp_seconds", "b"): "0+60x60"}, {}, [60]),
    ("allocator", "ShortloopCreatesFail",
     {CREATES % "created": "0+1000x60", CREATES % "unavailable": "0+20x60"},
     {20: [{}]}, [3]),
    ("allocator", "ShortloopCreatesFail",
     {CREATES % "created": "0+1000x60", CREATES % "unavailable": "0+5x60"}, {}, [60]),
    ("allocator", "ShortloopSpaceFull", {CREATES % "full": "0+1x30"}, {5: [{}]}, [1]),
    ("allocator", "ShortloopGrantsFail",
     {'shortloop_allocator_grants_total{outcome="failed",instance="a"}': "0+1x30"},
     {13: [{}]}, [9]),
    ("allocator", "ShortloopLiveLinkUnderFreshCode",
     {'shortloop_allocator_create_conflicts_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 75]),
    ("allocator", "ShortloopEventsLost",
     {'shortloop_allocator_events_lost_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 25]),
    ("allocator", "ShortloopAuditLost",
     {'shortloop_allocator_audit_lost_total{instance="a"}': ONCE_UP},
     {12: [AT_A]}, [9, 25]),
    ("allocator", "ShortloopAuditCannotBeWritten",
     {'shortloop_allocator_audit_write_failures_total{instance="a"}': "0+1x30"},
     {5: [AT_A]}, [1]),
    ("allocator", "ShortloopKeyRateLimited",
     {'shortloop_allocator_rate_limited_total{key="k",instance="a"}': "0+1x60"},
     {35: [{"key": "k"}]}, [29]),
]


def firing(alert, labels):
    labels = ", ".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
    return {"labels": f"ALERTS{{{labels}}}" if labels else "ALERTS", "value": 1}


def as_test(alert, severity, series, fires, silent):
    """Returns one of promtool's tests."""
    always = {"alertname": alert, "alertstate": "firing", "severity": severity}
    wanted = {**fires, **{minute: [] for minute in silent}}
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values}
                         for name, values in series.items()],
        "promql_expr_test": [
            {"expr": f'ALERTS{{alertname="{alert}",alertstate="firing"}}',
             "eval_time": f"{minute}m",
             "exp_samples": [firing(alert, {**always, **labels}) for labels in each]}
            for minute, each in sorted(wanted.items())]}


@pytest.mark.parametrize("program, alert, series, fires, silent", [
    pytest.param(*case, id=f"{case[1]}-{n}") for n, case in enumerate(CASES)])
def test_an_alert_fires_when_it_is_to(tmp_path, program, alert, series, fires, silent):
    rule, = [r for r in rules_of(program) if r["alert"] == alert]
    test = tmp_path / "test.yaml"
    # Evaluating a day of minutes takes promtool many seconds.
    long = max([*fires, *silent]) > 600
    test.write_text(yaml.safe_dump({
        "rule_files": [str(RULES / f"shortloop-{program}.rules.yaml")],
        "evaluation_interval": "5m" if long else "1m",
        "tests": [as_test(alert, rule["labels"]["severity"], series, fires, silent)]}))
    done = subprocess.run([PROMTOOL, "test", "rules", test], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_rule_of_each_program_is_among_them():
    for program in ("allocator", "redirector", "collector", "aggregator"):
        tried = {alert for of, alert, *_ in CASES if of == program}
        assert tried == {rule["alert"] for rule in rules_of(program)}, program
