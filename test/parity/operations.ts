/** Queues, loops, metrics, election, probes, logs and events of controller-runtime. */
import { row, type Rows } from "./row.ts"

export const operations: Rows = {
  "2.6 entries": row(
    "a key is queued once, at the highest priority and the earliest time; a key added during its run is queued again after it",
    {
      "streams/queue/KeyedQueue.test.ts": [
        "holds a key once, and hands out higher priorities first, equals in the order of arrival",
        "a key whose priority is raised goes behind the keys of that priority",
        "a key added while in flight is handed out after done, with the highest priority of the adds",
        "a delayed key becomes ready at the earliest of its times, equals in order, with one timer"
      ]
    }
  ),
  "2.6 rate limits": row("a limit for each key, and a bucket for all keys", {
    "streams/queue/KeyedQueue.test.ts":
      "the backoff doubles from 5 ms to 1000 s, forget resets it, and a shorter `after` takes precedence",
    "streams/queue/tokenBucket.test.ts": "in a queue, a retry waits for its backoff and for a token"
  }),
  "2.6 priorities": row("keys of the first list have a lower priority, and do not starve", {
    "streams/queue/KeyedQueue.test.ts": "a waiting low key gains 20 levels per 30 s up to normal, unless ageing is off",
    "streams/reconcile/Reconcile.test.ts": "case 12: a stream of normal work does not starve a low key",
    "layers/controller/resync.test.ts": "reconciles all objects again, and first those that have changed meanwhile"
  }),
  "2.6 shutdown": row("a shutdown refuses new keys, wakes all waiters, and blocks none", {
    "streams/queue/KeyedQueue.test.ts": [
      "shutdown ignores adds, drops queued keys, and ends every consumer",
      "that are interrupted at random lose no key and miss no wake-up"
    ]
  }),
  "2.6 machine": row("agrees with a model; one timer", {
    "streams/queue/queueState.test.ts": "agrees with the reference model over 10,000 random operations and more",
    "streams/queue/KeyedQueue.test.ts": "one timer serves all delays, in any order of adds"
  }),
  "2.7 workers": row("a limit of concurrent reconciles", {
    "layers/controller/defaults.test.ts": "keys at once: ${title}"
  }),
  "2.7 defects": row("are failures of their key, or end the manager", {
    "layers/controller/defaults.test.ts": "a defect ${title}",
    "streams/reconcile/Reconcile.test.ts":
      "case 10: a defect, a timeout and an interruption release the key and count a failure"
  }),
  "2.7 leaders": row("leaders only, with warm caches", {
    "manager/Manager.test.ts": "a standby syncs its caches before it leads, and sends no list when it begins to lead",
    "scenario/watching.test.ts":
      '--enable-warmup=${isWarm}: a standby ${isWarm ? "reads everything before it leads, and not again then" : "reads nothing before it leads"}'
  }),
  "2.7 timeouts": row("of a sync, and of a run", {
    "manager/runnables/isolation.test.ts":
      "ends with controller, kind and the last error when the time is over (warm: ${warm})",
    "layers/controller/defaults.test.ts": "run timeout: ${title}",
    "streams/reconcile/Reconcile.test.ts": "each run has its own deadline, even if another run delays its interruption"
  }),
  "2.7 names": row("are unique", {
    "manager/Manager.test.ts": "cannot run twice, and rejects two controllers of one name"
  }),
  "2.7 log": row("names controller, object and run", {
    "layers/controller/log.test.ts":
      "have the object and the id of the run, both for lines of the run and for the line about its end",
    "manager/logs/Logs.test.ts": "have the keys of controller-runtime, in its order"
  }),
  "2.7 result": row("done, or again after a time, at the same priority", {
    "streams/reconcile/Reconcile.test.ts": [
      "done and after reset the backoff, a failure backs off, a terminal failure is not retried",
      "retries and `after` keep the priority, unless `after` has another"
    ]
  }),
  "2.7 error": row("a failure backs off; a terminal failure is not retried, and counted separately", {
    "streams/reconcile/Reconcile.test.ts":
      "done and after reset the backoff, a failure backs off, a terminal failure is not retried",
    "streams/reconcile/loopMetrics.test.ts": "have a series for each result"
  }),
  "2.7 absent objects": row("reconciles of absent objects end without a failure", {
    "layers/Controller.test.ts": "reconciles the present objects, then each change, with one run for each key",
    "controllers/shared/workload/replicaLoopEdges.test.ts": "does nothing for an owner that does not exist"
  }),
  "2.10 names": row("names, labels and bounds, and no others", {
    "scenario/metrics.test.ts": [
      "on the embedded cluster, without election",
      "with every metric turned on; and docs/operations.md lists them",
      "on a standby, and over HTTPS with a certificate from files"
    ],
    "manager/metrics/text.test.ts": "has the buckets of client-go and controller-runtime, formatted as in Go"
  }),
  "2.10 from zero": row("the series of results exist before the first one", {
    "streams/reconcile/loopMetrics.test.ts": [
      "are all zero before there is a loop",
      "have a series for each of 25 priorities, and one for all others"
    ]
  }),
  "2.10 webhooks": row("series of webhooks", {
    "manager/webhooks/handle.test.ts": [
      "has series by path before the first review",
      "counts responses by code, their durations, and the reviews in flight",
      "that ${what} is a 500 in the review, and the next one is answered"
    ]
  }),
  "2.11 lease": row("the writes to the lease, by which steps", {
    "leader/Election.test.ts": [
      "creates the lease, renews it every retry period and releases it when its scope closes",
      "is retried if a renewal in flight was stored first"
    ],
    "leader/lease.test.ts": [
      "takeover counts a transition, renewal does not, release keeps the count",
      "attempts to acquire are 1 to 2.2 retry periods apart"
    ]
  }),
  "2.11 expiry": row("expiry is judged by the candidate's own clock since the record changed", {
    "leader/lease.test.ts": [
      "at most one candidate leads, whatever the wall clocks show",
      "only a change of the record restarts the clock"
    ],
    "leader/case13.test.ts": "wall clocks are hours apart, and jump"
  }),
  "2.11 observers": row("events on the lease, the metric of the leader, a health check", {
    "leader/Election.test.ts": [
      "are recorded on the Lease when a term begins and ends, the last one before the recorder closes",
      "standbys see every change of leader",
      "liveness fails if controllers still run long after the lease has expired, and not before"
    ]
  }),
  "2.11 fence": row("no write without proof", {
    "layers/fence.test.ts": "for all delays, no write starts when leadership is uncertain, and all others do",
    "scenario/leadership/stopped.test.ts": "writes nothing until it leads again",
    "scenario/leadership/audit.test.ts": "finds a write that was accepted in another's term"
  }),
  "2.11 busy loop": row("a blocked event loop keeps the lease for one renew deadline, and no longer", {
    "scenario/leaderFaults.test.ts":
      "blocked for longer than its renew deadline: its lease is renewed meanwhile, and it continues",
    "manager/renewal/thread.test.ts":
      "renews a lease for one renew deadline after the last heartbeat, and then lets it expire",
    "scenario/leadership/blocked.test.ts": "ends liveness and the lease of its process, and there are never two leaders"
  }),
  "2.11 on loss": row("exit, or contend again", {
    "manager/Manager.test.ts":
      "with onLost=rejoin it builds the controllers again in the next term, and sends no further list",
    "scenario/leaderFaults.test.ts":
      "loses its lease with --leader-elect-on-lost=rejoin: it contends again, leads again, and then stops as usual"
  }),
  "2.11 groups": row("leases of their own", {
    "manager/Manager.test.ts":
      "groups lead under leases of their own: one works while the other waits, and losing either ends the manager"
  }),
  "2.11 failover": row("a failover in time, with one writer at most", {
    "leader/failover.test.ts": [
      "a leader that does not renew is replaced within the lease and one jittered retry",
      "a candidate without the permission to watch polls, and takes over a little later"
    ],
    "scenario/leadership/killed.test.ts": "on the embedded server",
    "scenario/stopUnderLoad.test.ts": "exits 0, hands over within one jittered retry, and leaves no write half done",
    "leader/contention.test.ts":
      "of two or three candidates with random faults at most one leads at any time, and one leads in the end"
  }),
  "2.12 answers": row("with the texts and codes of Kubernetes' programs", {
    "manager/probes/response.test.ts": [
      'is "ok" alone if all checks pass',
      "lists each check with verbose",
      "withholds the reason of a failure, and shows it on one line with verbose",
      "leaves excluded checks out, and warns of unknown ones"
    ],
    "manager/probes/handle.test.ts": [
      "run the registered checks in the order of their names",
      "have a ping check if there is no other"
    ]
  }),
  "2.12 checks": row("caches, event loop, election, silent informers", {
    "manager/probes/readiness.test.ts":
      "names a kind that has not synced with its last error, is ready after it has, and not after the manager ended",
    "manager/probes/informers.test.ts": "is alive after a recent event or try, whatever the server returns",
    "manager/probes/lag.test.ts": "is at least the worst of the last half minute, and never older than a minute"
  }),
  "2.12 profiles": row("off by default; CPU, heap, fibers", {
    "scenario/endpoints.test.ts": [
      "are those of V8, taken one at a time, and end with the program",
      "are not served to unauthenticated clients"
    ]
  }),
  "2.13 paths": row("paths of webhooks, one for each", {
    "manager/webhooks/check.test.ts": [
      "because ${message}",
      "do not include different paths, the root, and conversions with one path"
    ]
  }),
  "2.13 reviews": row("reviews get a response in their version; invalid bodies are refused", {
    "manager/webhooks/handle.test.ts": [
      "in ${version} is answered in ${version}, with its uid",
      "${what} is refused with ${code}, as a review",
      "end with the first denial, and return the warnings so far",
      "that does not end is interrupted after the API server's timeout"
    ],
    "manager/webhooks/overHttps.test.ts": "respond to any request, over HTTP/1.1"
  }),
  "2.13 defaulting": row("a patch of the difference, and no patch without a difference", {
    "manager/webhooks/handle.test.ts": [
      "responds with a patch of the changed fields only",
      "responds without a patch if nothing has changed",
      "is not called for a deletion"
    ],
    "layers/webhook/handlers.test.ts": "a default is set, and all other fields stay as they are"
  }),
  "2.13 validating": row("refusals of Schemas and rules, on creations, updates and deletions", {
    "layers/Webhook.test.ts": [
      "deny an object that the Schema cannot decode, with the path of the field",
      "deny what a rule in code denies, also for updates and deletions"
    ],
    "manager/webhooks/handle.test.ts": "of a CONNECT is allowed for any resource"
  }),
  "2.13 conversion": row("hub and spokes, all or none, identities kept", {
    "manager/webhooks/conversion.test.ts": [
      "of many is answered in their order, in ${api}",
      "between two spokes goes through the hub",
      "${what} fails, and all others with it"
    ],
    "layers/Webhook.test.ts": "convert between versions, and receive writes in another version converted to their own"
  }),
  "2.14 credentials": row("credentials from all sources, read again when they change", {
    "platform/KubeConfig.test.ts": [
      "--kubeconfig, then KUBECONFIG, then the pod, then the home directory, then nothing",
      "token, basic, impersonation, none",
      "a token file is read again after ten seconds; while it is missing the last token is used",
      "the plugin runs once for many waiting requests, and receives the cluster"
    ],
    "platform/HttpTransport.test.ts": "uses a configured proxy, with TCP keepalive after 20 s"
  }),
  "2.14 rate and name": row("no limit by default; a user agent in every request", {
    "cli/cluster/throttle.test.ts": "lets the burst pass at once and delays the rest, without watches",
    "scenario/identity.test.ts": "asks under a name of its own"
  }),
  "2.14 log": row("format, level, stacks, time, sampling, keys", {
    "manager/logs/Logs.test.ts": [
      "have the keys of controller-runtime, in its order",
      "write the time as ${time}",
      "show stack traces from the configured level on, and always the error",
      "is sampled if a message repeats and sampling is on"
    ],
    "manager/logs/level.test.ts": "takes words in any case and verbosities as klog counts them",
    "scenario/flags.test.ts":
      "json and debug: the known lines, in their order, with their keys; pods are named at debug only"
  }),
  "2.14 trace": row("spans of runs and requests, sent to a collector", {
    "scenario/telemetry.test.ts": "shows what triggered a run, how long it waited, and which calls it made",
    "streams/reconcile/trace.test.ts": "are made only where a tracer is provided"
  }),
  "2.16 groups": row("the new group, and the old one", {
    "layers/Recorder.test.ts": [
      "events.k8s.io: equal events are one event with a series, which is written when the recorder ends",
      "writes a core/v1 event as kubectl describe expects it, and increments its count",
      "an event about a cluster-scoped object is stored in default; simultaneous events differ in name"
    ],
    "leader/embedded.test.ts": "events are found by the object they are about, in both groups, and counted"
  }),
  "2.16 series": row("repeated events are counted, and written again every half hour", {
    "layers/recorder/series.test.ts": [
      "every event is counted once, in its series",
      "writes the first two events at once, then the series every half hour, and at its end"
    ]
  }),
  "2.16 queue": row(
    "a thousand events are buffered, more are dropped with a log line; twelve attempts ten seconds apart",
    {
      "layers/Recorder.test.ts": [
        "never waits for a server that hangs: it queues a thousand events and drops the others",
        "gives up an event after twelve attempts, ten seconds apart, and sends the next one"
      ]
    }
  ),
  "2.16 correlator": row("similar events are aggregated, and limited", {
    "layers/recorder/correlator.test.ts": [
      "equals a reference model over random sequences of events",
      "combines similar events from the tenth different message on",
      "lets 25 events pass at once, then one in 300 s, for each source and object",
      "case 16: keeps a bounded number of entries: ten thousand objects leave 4096, and none after hours without events"
    ]
  })
}
