/** Queues, loops, metrics, election, probes, logs and events of controller-runtime. */
import { row, type Rows } from "./row.ts"

export const operations: Rows = {
  "2.6 entries": row("one of each key, at the highest priority and the earliest time; again after it is done", {
    "streams/queue/KeyedQueue.test.ts": [
      "holds a key once, equals in order of arrival, higher priorities first",
      "a raised key goes to the end of its new level",
      "a key added while in flight is handed out after done, with the highest priority asked for",
      "delays: the earliest time wins, equals become ready in order, one timer wakes them"
    ]
  }),
  "2.6 rate limits": row("for each key, and a bucket for all", {
    "streams/queue/KeyedQueue.test.ts":
      "rate limit: 5 ms doubling to 1000 s, reset by forget, the shorter of it and `after`",
    "streams/queue/tokenBucket.test.ts": "of a queue: retries of many keys wait for the later of backoff and token"
  }),
  "2.6 priorities": row("what was listed first is less urgent, and does not starve", {
    "streams/queue/KeyedQueue.test.ts": "a waiting low key gains 20 levels per 30 s up to normal, unless ageing is off",
    "streams/reconcile/Reconcile.test.ts": "case 12: a stream of normal work does not starve a low key",
    "layers/controller/resync.test.ts": "works on everything again, and first on what has changed meanwhile"
  }),
  "2.6 shutdown": row("refuses, wakes everybody, blocks nobody", {
    "streams/queue/KeyedQueue.test.ts": [
      "shutdown refuses adds, drops what is queued, and ends every taker",
      "interrupted at random, they lose no key and miss no wake-up"
    ]
  }),
  "2.6 machine": row("agrees with a model; one timer", {
    "streams/queue/queueState.test.ts": "agrees with the reference model over 10,000 random operations and more",
    "streams/queue/KeyedQueue.test.ts": "one timer for all delays, however they arrive"
  }),
  "2.7 workers": row("so many at once", { "layers/controller/defaults.test.ts": "keys at once: ${title}" }),
  "2.7 defects": row("are failures of their key, or end the manager", {
    "layers/controller/defaults.test.ts": "a defect ${title}",
    "streams/reconcile/Reconcile.test.ts":
      "case 10: a defect, a timeout and an interruption release the key, count a failure, and disturb no other"
  }),
  "2.7 leaders": row("leaders only, with warm caches", {
    "manager/Manager.test.ts":
      "keeps a standby warm: the kinds are synced before it leads, and leading lists nothing again",
    "scenario/watching.test.ts":
      '--enable-warmup=${isWarm}: a standby ${isWarm ? "reads everything before it leads, and not again then" : "reads nothing before it leads"}'
  }),
  "2.7 timeouts": row("of a sync, and of a run", {
    "manager/runnables/isolation.test.ts":
      "ends with controller, kind and the last error when the time is over (warm: ${warm})",
    "layers/controller/defaults.test.ts": "time for a run: ${title}",
    "streams/reconcile/Reconcile.test.ts": "each run has its own deadline, whatever it does with the interruption"
  }),
  "2.7 names": row("are unique", {
    "manager/Manager.test.ts": "cannot be started twice, nor a controller in it"
  }),
  "2.7 log": row("names controller, object and run", {
    "layers/controller/log.test.ts": "name the object and the run, the same for what the run says and for how it ended",
    "manager/logs/Logs.test.ts": "have the keys of controller-runtime, in its order"
  }),
  "2.7 result": row("done, or again after a time, at the same priority", {
    "streams/reconcile/Reconcile.test.ts": [
      "done forgets, after comes again, failure backs off, a terminal failure is not retried",
      "retries and `after` keep the priority unless given another"
    ]
  }),
  "2.7 error": row("backs off; a terminal one is left alone, and counted apart", {
    "streams/reconcile/Reconcile.test.ts":
      "done forgets, after comes again, failure backs off, a terminal failure is not retried",
    "streams/reconcile/loopMetrics.test.ts": "tell results apart"
  }),
  "2.7 absent objects": row("end quietly", {
    "layers/Controller.test.ts": "runs for what is there, then for every change, once a key",
    "controllers/shared/workload/replicaLoopEdges.test.ts": "does nothing for an owner that is gone"
  }),
  "2.10 names": row("names, labels and bounds, and none besides", {
    "scenario/metrics.test.ts": [
      "on the embedded cluster, without election",
      "with everything that can be counted; and so says the documentation",
      "on a standby, and over HTTPS with a certificate from files"
    ],
    "manager/metrics/text.test.ts": "has the buckets of the reference, written as it writes them"
  }),
  "2.10 from zero": row("results are there before there are any", {
    "streams/reconcile/loopMetrics.test.ts": [
      "are all there, at zero, before there is a loop",
      "have a series for each of 25 priorities, and one for the rest"
    ]
  }),
  "2.10 webhooks": row("series of webhooks", {
    "manager/webhooks/handle.test.ts": [
      "is there before the first review, by path",
      "is each answer by its code, its time, and what is under way",
      "that ${what} is a 500 in the review, and the next one is answered"
    ]
  }),
  "2.11 lease": row("what is written, by which steps", {
    "leader/Election.test.ts": [
      "creates the lease, renews it every retry period and hands it over when its scope closes",
      "is tried again when a renewal in flight got there first"
    ],
    "leader/lease.test.ts": [
      "takeover counts a transition, renewal does not, release keeps the count",
      "tries to acquire are 1 to 2.2 retry periods apart"
    ]
  }),
  "2.11 expiry": row("is judged by one's own clock since the record changed", {
    "leader/lease.test.ts": [
      "at most one candidate believes that it leads, whatever the wall clocks say",
      "only a change of the record restarts the clock"
    ],
    "leader/case13.test.ts": "wall clocks are hours apart, and jump"
  }),
  "2.11 observers": row("events on the lease, who leads, a check of health", {
    "leader/Election.test.ts": [
      "are recorded on the Lease when a term begins and ends, the last one before the recorder is gone",
      "standbys see every change of leader",
      "liveness fails when work goes on long after the lease must have run out, and not before"
    ]
  }),
  "2.11 fence": row("no write without proof", {
    "layers/fence.test.ts":
      "whatever the delays, no write starts after the proof ran out, and none that may is held back",
    "scenario/leadership/stopped.test.ts": "writes nothing until it leads again",
    "scenario/leadership/audit.test.ts": "finds a write that was accepted in another's term"
  }),
  "2.11 busy loop": row("is survived for one renew deadline, and no longer", {
    "scenario/leaderFaults.test.ts":
      "busy for longer than its renew deadline: its lease is renewed meanwhile, and it goes on",
    "manager/renewal/thread.test.ts":
      "keeps a lease for one renew deadline after the last sign of life, and then lets it run out",
    "scenario/leadership/blocked.test.ts": "costs its process liveness and the lease, and never makes two leaders"
  }),
  "2.11 on loss": row("exit, or contend again", {
    "manager/Manager.test.ts":
      "asked to rejoin, it builds everything afresh when it leads again, and lists nothing again",
    "scenario/leaderFaults.test.ts":
      "loses its lease with --leader-elect-on-lost=rejoin: it contends again, leads again, and then stops as usual"
  }),
  "2.11 groups": row("leases of their own", {
    "manager/Manager.test.ts":
      "groups lead under leases of their own: one works while the other waits, and losing either ends the manager"
  }),
  "2.11 failover": row("in time, with one writer at most", {
    "leader/failover.test.ts": [
      "a silent leader is followed within the lease and one jittered retry",
      "who may not watch looks, and gets there a little later"
    ],
    "scenario/leadership/killed.test.ts": "on the embedded server",
    "scenario/stopUnderLoad.test.ts": "exits 0, hands over within one jittered retry, and leaves nothing half done",
    "leader/contention.test.ts":
      "two and three candidates under random faults: at most one leads at any moment, and one does in the end"
  }),
  "2.12 answers": row("in the words and codes of Kubernetes' programs", {
    "manager/probes/response.test.ts": [
      "is ok and nothing else while everything is",
      "lists each check when asked to",
      "withholds the reason of a failure, and shows it on one line with verbose",
      "leaves out what is excluded, and warns of what there is not"
    ],
    "manager/probes/handle.test.ts": [
      "answer for what is registered, in the order of the names",
      "ping where there is nothing to ask"
    ]
  }),
  "2.12 checks": row("caches, event loop, election, silent informers", {
    "manager/probes/readiness.test.ts":
      "names the kind that has not synced with its last error, is ready when it has, and not after the end",
    "manager/probes/informers.test.ts": "is alive after a recent event or try, whatever the server returns",
    "manager/probes/lag.test.ts": "is at least the worst of the last half minute, and never older than a minute"
  }),
  "2.12 profiles": row("off unless asked for; processor, heap, fibers", {
    "scenario/endpoints.test.ts": [
      "are V8's, one at a time, and do not outlive it",
      "nothing of it is served to everybody"
    ]
  }),
  "2.13 paths": row("paths of webhooks, one for each", {
    "manager/webhooks/check.test.ts": [
      "because ${message}",
      "are not these: other paths, the root, conversions at one path"
    ]
  }),
  "2.13 reviews": row("reviews, answered in their version, and what is none", {
    "manager/webhooks/handle.test.ts": [
      "in ${version} is answered in ${version}, with its uid",
      "${what} is refused with ${code}, as a review",
      "end with the first refusal, and tell the warnings until then",
      "that does not end is given up when the API server is said to give up"
    ],
    "manager/webhooks/overHttps.test.ts": "answer whatever is sent to them, in HTTP/1.1"
  }),
  "2.13 defaulting": row("a patch of the difference, and none where there is none", {
    "manager/webhooks/handle.test.ts": [
      "answers with what is different, and leaves the rest alone",
      "answers without a patch where nothing is different",
      "is not asked about a deletion"
    ],
    "layers/webhook/handlers.test.ts": "a default is written, and all else is as it was"
  }),
  "2.13 validating": row("refusals of Schemas and rules, on creations, updates and deletions", {
    "layers/Webhook.test.ts": [
      "refuse what the Schema refuses, with the path",
      "refuse what a rule in code refuses, on updates and deletions too"
    ],
    "manager/webhooks/handle.test.ts": "of a CONNECT is allowed, whatever is connected to"
  }),
  "2.13 conversion": row("hub and spokes, all or none, identities kept", {
    "manager/webhooks/conversion.test.ts": [
      "of many is answered in their order, in ${api}",
      "between two spokes goes through the hub",
      "${what} fails, and all others with it"
    ],
    "layers/Webhook.test.ts": "convert between versions, and are asked in their own about writes in another"
  }),
  "2.14 credentials": row("from everywhere, read again when they change", {
    "platform/KubeConfig.test.ts": [
      "--kubeconfig, then KUBECONFIG, then the pod, then the home directory, then nothing",
      "token, basic, impersonation, none",
      "a token file is read again after ten seconds; while it is missing the last token is used",
      "the plugin runs once for many waiting requests, and receives the cluster"
    ],
    "platform/HttpTransport.test.ts":
      "goes through a proxy when there is one, and looks after 20 s whether a quiet one is there"
  }),
  "2.14 rate and name": row("no limit unless asked for; a name in every request", {
    "manager/cluster/throttle.test.ts": "lets the burst pass at once and the rest one after another, watches apart",
    "scenario/identity.test.ts": "asks under a name of its own"
  }),
  "2.14 log": row("form, level, stacks, time, thinning, keys", {
    "manager/logs/Logs.test.ts": [
      "have the keys of controller-runtime, in its order",
      "write the time as ${time}",
      "show stacks from their level on, and the error always",
      "is thinned out where a message repeats, if that is wanted"
    ],
    "manager/logs/level.test.ts": "takes words in any case and verbosities as klog counts them",
    "scenario/flags.test.ts":
      "json and debug: the lines that operators know, in their order, with their keys; pods are named at debug only"
  }),
  "2.14 trace": row("spans of runs and requests, sent where somebody collects", {
    "scenario/telemetry.test.ts": "shows what a run was asked for by, how long it waited, and which calls it made",
    "streams/reconcile/trace.test.ts": "are made only where a tracer is provided"
  }),
  "2.16 groups": row("the new group, and the old one", {
    "layers/Recorder.test.ts": [
      "events.k8s.io: one event with a series, finished when the recorder ends",
      "writes a core/v1 event as kubectl describe expects it, and raises its count",
      "an event about a cluster-scoped object is stored in default; two in one tick have two names"
    ],
    "leader/embedded.test.ts": "events are found by the object they are about, in both groups, and counted"
  }),
  "2.16 series": row("counted, written again every half hour", {
    "layers/recorder/series.test.ts": [
      "every event is counted once, in the series it belongs to",
      "writes the first two at once, then every half hour, then the end"
    ]
  }),
  "2.16 queue": row("a thousand, then dropped with a line; twelve tries ten seconds apart", {
    "layers/Recorder.test.ts": [
      "never waits for a server that hangs: a thousand are queued, the rest is dropped",
      "tries twelve times, ten seconds apart, then goes on with the next"
    ]
  }),
  "2.16 correlator": row("aggregates, and thins out", {
    "layers/recorder/correlator.test.ts": [
      "equals a reference model over random sequences of events",
      "combines from the tenth different message on",
      "lets 25 through at once, then one in 300 s, per source and object",
      "case 16: remembers a bounded number of events: ten thousand objects leave 4096 entries, and none after hours of silence"
    ]
  })
}
