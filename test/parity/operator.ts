/** The manager of an operator, as controller-runtime has it. */
import { none, row, type Rows } from "./row.ts"

export const operator: Rows = {
  M1: row("--metrics-addr; 0 opens no port", {
    "scenario/flags.test.ts": "is the old name of --metrics-bind-address; 0 opens no port at all",
    "layers/http/address.test.ts": ["${text} is parsed, and formatted as before", '"${text}" means off']
  }),
  M2: row("feature gates", {
    "manager/gates.test.ts": 'reads "${text}"',
    "manager/metrics/features.test.ts": "every gate is a series, by name and stage, that is 1 when it is on",
    "scenario/badInput.test.ts": "a wrong command line ends the program before it looks for a cluster"
  }),
  M3: row("--enable-leader-election; of several replicas one works", {
    "scenario/election.test.ts":
      "one of three writes; another takes over when it stops and when it is killed, and none when another holder takes the lease",
    "manager/process/commandLine.test.ts": "accepts the aliases of flags"
  }),
  M4: row("--skip-webhook-config: no listener and no certificate, or a mounted or generated certificate", {
    "scenario/webhooks.test.ts": [
      "open no port and read no file when they are turned off",
      "are not served when it ${title}",
      "use the new certificate once it has been renewed"
    ]
  }),
  M5: row("flags of the log", {
    "scenario/flags.test.ts": [
      "json and debug: the known lines, in their order, with their keys; pods are named at debug only",
      "info without a format: lines for people on the embedded cluster, without pods and sources; devel shows them"
    ],
    "manager/logs/Logs.test.ts": [
      "write the time as ${time}",
      "show stack traces from the configured level on, and always the error"
    ],
    "manager/settings.test.ts": [
      "of verbosity are level names or numbers",
      "of logs depend on the cluster and on development mode, unless they are set"
    ]
  }),
  M6: row("WATCH_NAMESPACE", {
    "scenario/watching.test.ts": [
      "WATCH_NAMESPACE: these namespaces are reconciled, and no request is about all namespaces",
      "contradicting settings of namespaces end the program with code 2, and one line"
    ]
  }),
  M7: row("unknown kinds are reported by group and name", {
    "layers/Discovery.test.ts": "a kind that was not found is looked up again at most every ten seconds, and then found"
  }),
  M8: row("kinds and their paths", {
    "kube/Resource.test.ts": "of ${of}: ${path}",
    "layers/Discovery.test.ts": "a legacy group is read one version after the other, the preferred one first"
  }),
  M9: row("--sync-period", {
    "manager/settings/cache.test.ts": "is about ten hours by default",
    "layers/CacheNamespaces.test.ts": "distributes every object as an update that changes nothing, without a request"
  }),
  M10: row("parts are layers: a test brings its own", {
    "testing/ClusterTest.test.ts":
      "apply stores every document, run starts the controller, and settle waits for its reconciles",
    "layers/KubeClient.test.ts": "each verb has its method, path, query, headers and body"
  }),
  M11: row("kinds that are always read live", {
    "layers/controller/sharing.test.ts":
      "a kind that is read with the client costs a request for each read, and is not watched",
    "layers/Cache.test.ts": "a read without a subscription fails with what to declare, and sends no request"
  }),
  M12: row("--dry-run", {
    "cli/cluster/dryRun.test.ts": "leaves the server unchanged after every kind of write",
    "scenario/settings.test.ts":
      "the flag overrides the variable, the variable overrides the file; a dry run writes only to the lease"
  }),
  M13: row("events, counted", {
    "layers/Recorder.test.ts": [
      "writes a core/v1 event as kubectl describe expects it, and increments its count",
      "logs every event, sent or not"
    ],
    "scenario/startStop.test.ts":
      "logs that once, runs on the embedded cluster, labels and records within 15 s, stops on Ctrl-C"
  }),
  M14: row("the webhook listener: reviews over TLS", {
    "scenario/webhooks.test.ts": ["are called by the embedded server", "are called by a real API server"],
    "manager/webhooks/overHttps.test.ts": ["respond to any request, over HTTP/1.1", "are called by the embedded server"]
  }),
  M15: row("reads from the cache, writes to the server, and reads that show the controller's own writes", {
    "layers/Controller.test.ts": [
      "case 14: a key waits without a worker until the cache contains its last write",
      "case 14: the wait of a key for its own write ends after 5 s without the event",
      "case 14: a key does not wait for a write that changed nothing"
    ]
  }),
  M16: row("where the kubeconfig comes from", {
    "platform/KubeConfig.test.ts": [
      "--kubeconfig, then KUBECONFIG, then the pod, then the home directory, then nothing",
      "the files of KUBECONFIG are merged, the first to name something wins, missing ones are skipped"
    ],
    "scenario/badInput.test.ts": "does not exist, is a folder, or is not named"
  }),
  M17: row("registration: contradictions do not compile, names are unique", {
    "layers/Controller.types.ts": ["declared", "nameless", "ownsWithoutFor", "twoFors", "idle", "idleSchedule"],
    "layers/Controller.test.ts": [
      "reconciles the present objects, then each change, with one run for each key",
      "a change of an owned object queues its controlling owner",
      "a custom trigger maps the changes of a watched kind to keys"
    ],
    "manager/Manager.test.ts": "cannot run twice, and rejects two controllers of one name"
  }),
  M18: row("controllers that run with and without the lease", {
    "manager/Manager.test.ts": "a lost lease ends the manager, and the controllers get the reason"
  }),
  M19: row("metrics on a standby", {
    "scenario/servers.test.ts": "a standby is ready and serves the series of the controllers that it would run"
  }),
  M20: row("probes: alive before the caches have synced, ready after", {
    "manager/servers.test.ts": "both servers respond until their scope closes, and are ready once the checks pass",
    "manager/probes/readiness.test.ts":
      "names a kind that has not synced with its last error, is ready after it has, and not after the manager ended",
    "scenario/servers.test.ts": "live at once, ready when all has synced, every series exists; closed at the end"
  }),
  M21: row("no work on a cold cache", {
    "layers/Controller.test.ts": "an informer that cannot sync delays its own controller and fails none",
    "manager/startOrder.test.ts": "reconciles nothing before the first list, and then each object once"
  }),
  M22: row("without an election every replica leads", { "leader/Election.test.ts": "is one term that never ends" }),
  M23: row("the first failure ends the manager; all failures are reported, the first one first", {
    "manager/Manager.test.ts": [
      "a supervised fiber that fails ends it with a line that names the controller and the cause",
      "fails with all errors, the first one first"
    ]
  }),
  M24: row("an ordered stop; late failures are logged", {
    "layers/Shutdown.test.ts":
      "takes no key, lets runs finish, releases the Lease, sends events, closes watches, then servers",
    "manager/Manager.test.ts": "an error during an orderly stop is logged, and does not fail the stop"
  }),
  M25: row("nothing is started twice", {
    "manager/Manager.test.ts": "cannot run twice, and rejects two controllers of one name"
  }),
  M26: row("sources exist before a controller waits for them", {
    "layers/controller/log.test.ts": "have the start and stop lines of controller-runtime",
    "layers/Cache.test.ts":
      "by `synced` every listener was called; a listener that throws is reported and affects no other"
  }),
  M27: row("a sync has a limit, whose end names controller, kind and reason", {
    "manager/runnables/isolation.test.ts":
      "ends with controller, kind and the last error when the time is over (warm: ${warm})",
    "scenario/badInput.test.ts": "403 on a list, with strict isolation, names controller, verb and resource"
  }),
  M28: row("workers, and their number", {
    "layers/controller/defaults.test.ts": "keys at once: ${title}",
    "layers/controller/log.test.ts": "have the start and stop lines of controller-runtime",
    "streams/reconcile/loopMetrics.test.ts": "measure how long keys waited and runs took, and the runs in flight"
  }),
  M29: none(
    "a worker that dies of a defect of the queue is restarted after a second",
    "There is no fiber to restart: keys are handed out by one synchronous machine, and what a run dies of is its key's failure."
  ),
  M30: row("never two reconciles of one object at once", {
    "streams/reconcile/reconcileLoop.test.ts":
      "never runs a key twice at once, loses no add, counts every failure, and ends with an empty queue",
    "streams/reconcile/Reconcile.test.ts":
      "case 12: 10,000 keys and one that changes all the time run in order, never overlap, never starve"
  }),
  M31: row("the queue is shut down, defects are logged", {
    "streams/queue/KeyedQueue.test.ts": "closing the scope shuts the queue down",
    "layers/Controller.test.ts": "a defect in a reconcile counts as a failure of its key and does not end the process"
  }),
  M32: row("the log lines that operators know", {
    "scenario/flags.test.ts":
      "json and debug: the known lines, in their order, with their keys; pods are named at debug only",
    "layers/controller/log.test.ts": "have the start and stop lines of controller-runtime"
  }),
  M33: row("events are keys: many of them are one run", {
    "streams/queue/levels.test.ts": "ten thousand events about a key in flight cause one more run"
  })
}
