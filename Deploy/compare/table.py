"""Prints the table of Deploy/compare/run: medians, and how many times ours each of the others is exceeded."""
import json
import statistics
import sys

rates, cpu = {}, {}
for line in open(sys.argv[1]):
    if not line.startswith("{"):
        print(line.rstrip())
        continue
    item = json.loads(line)
    rates.setdefault(item["case"], []).append(item["evps"])
    cpu.setdefault(item["case"], []).append(item["cpu_us"])
rate = {case: statistics.median(values) for case, values in rates.items()}

# Case, words, the cases of ours that it is held against, and the target for the first of them.
ROWS = [
    ("A", "libzmq's own proxy, no journal, no answers", [], 0),
    ("J", "minimal C broker with a synced journal, 100 a batch", [], 0),
    None,
    ("encoded500", "ours, fsync; event by event, batched underneath (500)", [], 0),
    ("encoded", "ours, fsync; 100 a batch", [], 0),
    ("encoded1", "ours, fsync; one event a batch", [], 0),
    ("os-encoded500", "ours, os (no sync); event by event (500 underneath)", [], 0),
    ("os-encoded", "ours, os (no sync); 100 a batch", [], 0),
    None,
    ("js-always-100", "JetStream, sync_interval always; 100 a message", ["encoded"], 4),
    ("js-always-1", "JetStream, sync_interval always; one a message", ["encoded500", "encoded1"], 0),
    ("js-100", "JetStream, default (syncs each 2 min); 100 a message", ["encoded", "os-encoded"], 0),
    ("js-1", "JetStream, default; one a message", ["encoded500", "encoded1"], 8),
]
for sync in ["always", "everysec"]:
    for reader, words in [("cursor", "XREAD and a stored id"), ("group", "XREADGROUP, XACK")]:
        ROWS.append((f"redis-{sync}-100-{reader}", f"Redis, appendfsync {sync}; 100 an entry; {words}",
                     ["encoded"] if sync == "always" else ["encoded", "os-encoded"], 0))
        ROWS.append((f"redis-{sync}-1-{reader}", f"Redis, appendfsync {sync}; one an entry; {words}",
                     ["encoded500", "encoded1"], 0))

OURS = {"encoded500": "event by event", "encoded": "100 a batch", "encoded1": "one a batch", "os-encoded": "os, 100"}
print(f"\n{'200-byte events, acknowledged, to one durable reader':<66}{'events/s':>11}{'µs CPU':>9}   ours is")
for row in ROWS:
    if row is None:
        print()
        continue
    case, words, against, target = row
    if case not in rate:
        continue
    texts = []
    for ours in against:
        if ours in rate:
            texts.append(f"{rate[ours] / rate[case]:.1f} × ({OURS[ours]})")
    if texts and target:
        ratio = rate[against[0]] / rate[case]
        texts.append(f"target ≥ {target}: {'met' if ratio >= target else 'MISSED'}")
    print(f"{words:<66}{rate[case]:>11,.0f}{statistics.median(cpu[case]):>9.2f}   {', '.join(texts)}")
print("""
Medians. µs CPU: of server and both clients, for each event. What each acknowledgement means: ours fsync, JetStream
always, Redis always: on disk. Ours os, JetStream default, Redis everysec: in the system's memory; a power loss takes it.""")
