/** The program around the loops of kube-controller-manager. */
import { row, type Rows } from "./row.ts"

export const kubeControllerManager: Rows = {
  K1: row("reconciles get keys, and their result does not depend on the events", {
    "streams/queue/levels.test.ts": "a thousand orders of events about one object end with the same state"
  }),
  K2: row("each dependency is a service, and a program that lacks one does not compile", {
    "layers/Controller.types.ts": ["needsServices", "withoutCache", "withoutClient", "withoutRecorder", "enough"]
  }),
  K3: row("controllers have user agents, or service accounts, of their own", {
    "scenario/identity.test.ts": [
      "asks under a name of its own",
      "writes as an account of its own with --use-service-account-credentials"
    ],
    "manager/identity/accounts.test.ts":
      "is created if it is missing, and authenticates with a token and without a certificate"
  }),
  K4: row("one list and watch of a kind for any number of controllers", {
    "layers/controller/sharing.test.ts": "three controllers of pods share one watch, and each receives every pod once",
    "layers/Cache.test.ts":
      "one informer serves all subscribers, and stops when the last one has ended and the idle time is over"
  }),
  K5: row("reads come from the cache", {
    "layers/Cache.test.ts":
      "changes yields the present objects, then the live deltas, and a later subscriber causes no list",
    "controllers/PodCount.test.ts": "sends no read once synced, and no write while nothing changes"
  }),
  K6: row("settings in force are shown, secrets redacted", {
    "scenario/endpoints.test.ts": "show the settings in force, whatever their source",
    "manager/debug/configuration.test.ts": [
      "shows the values in force and their origins",
      "hides secrets from all sources"
    ]
  }),
  K7: row("discovery is lazy, and finds kinds that were installed later", {
    "layers/Discovery.test.ts": [
      "sends no request before the first use, and reads each document once",
      "a kind that was not found is looked up again at most every ten seconds, and then found",
      "aggregated discovery reads all groups with one request"
    ]
  }),
  K8: row("a kind that is not served skips its controllers, or is waited for", {
    "manager/runnables/kinds.test.ts": [
      "waits and logs it, does not affect readiness, starts when the kind is served and stops when it is not",
      "is skipped for good with missingKinds=skip: one log line, and no further discovery"
    ]
  }),
  K9: row("cloud loops run here or elsewhere, and nowhere without a cloud", {
    "manager/runnables/cloud.test.ts": [
      "do not run with an external cloud provider, and to name one is an error",
      "run here with a cloud provider, and not without one"
    ]
  }),
  K10: row("a stop closes every watch, and nothing keeps the process running", {
    "scenario/stopAnywhere.test.ts":
      "releases the lease, then sends the events, then closes the watches, and serves probes in the meantime",
    "scenario/startStop.test.ts": "${signal} is an orderly stop too"
  }),
  K11: row("a late listener gets the whole first list, once", {
    "layers/Cache.test.ts": [
      "changes yields the present objects, then the live deltas, and a later subscriber causes no list",
      "by `synced` every listener was called; a listener that throws is reported and affects no other"
    ],
    "manager/startOrder.test.ts": "reconciles nothing before the first list, and then each object once"
  }),
  K12: row("resyncs at random periods within their bounds, without a request", {
    "layers/CacheNamespaces.test.ts": [
      "distributes every object as an update that changes nothing, without a request",
      "the spread `around` differs from the period by at most a tenth",
      "the spread `atLeast` is between one and two periods"
    ],
    "scenario/watching.test.ts": "--sync-period: every object is reconciled again, without a request to the server"
  }),
  K13: row("controllers have states and pages of their own, behind authorization", {
    "manager/debug/standing.test.ts": "is: ${expected}",
    "manager/debug/pages.test.ts": "a controller's own page is served below its name while it runs",
    "scenario/endpoints.test.ts": "are served to clients with the right, and to no others"
  }),
  K14: row("names are unique, and aliases resolve to them", {
    "manager/registry.test.ts": ["two controllers of one name are an error", "an alias is the name it stands for"]
  }),
  K15: row("--controllers, its star and its minus", {
    "scenario/flags.test.ts":
      "with a minus leaves one out and logs it; with names it runs those and no others, under all their names",
    "manager/registry.test.ts": [
      "the first explicit mention wins over the star, wherever it stands",
      "an unknown name is an error that lists the known ones"
    ],
    "scenario/badInput.test.ts": "a wrong command line ends the program before it looks for a cluster"
  }),
  K16: row("starts are apart by the interval, up to twice", {
    "manager/Manager.test.ts":
      "waits between one and two start intervals between two controllers, and not before the first"
  }),
  K17: row("one controller starts first; its failure ends the manager", {
    "manager/runnables/startFirst.test.ts": [
      "delays the others until all keys of its first list have been reconciled",
      "that is not ready in time ends the manager, whatever the isolation",
      "that fails to start ends the manager"
    ]
  }),
  K18: row("phases in their order", {
    "manager/startOrder.test.ts":
      "contacts the server, syncs the kinds, acquires the lease, builds the controllers, and then reconciles",
    "scenario/servers.test.ts": "live at once, ready when all has synced, every series exists; closed at the end"
  }),
  K19: row("a server that cannot be reached ends the start after ten seconds", {
    "scenario/badInput.test.ts": [
      "a server that refuses connections is retried for ten seconds",
      "a server that never responds is retried for ten seconds"
    ]
  }),
  K20: row("a limit of keys at once", {
    "layers/controller/defaults.test.ts": "keys at once: ${title}",
    "parity/flags.test.ts": "--${name}",
    "manager/configured.test.ts":
      "the concurrency comes from the controller's flag, its kind, the setting for all, or its default, in this order",
    "streams/reconcile/reconcileLoop.test.ts":
      "never runs a key twice at once, loses no add, counts every failure, and ends with an empty queue"
  }),
  K21: row("core loops: known, on, off, each alone, under the standard lease", {
    "scenario/flags.test.ts":
      "with a minus leaves one out and logs it; with names it runs those and no others, under all their names",
    "scenario/commands.test.ts": "${spelling} lists every flag, every controller and the exit codes",
    "scenario/coreLease.test.ts": [
      "are off by default, without an election",
      "wait for kube-controller-manager's lease and log its holder; our own controllers do not wait"
    ]
  }),
  "K21 in place": row("runs under its command line, on its port, with its rights and no others", {
    "scenario/inPlace.test.ts":
      "runs its loops with its command line, on its port and under its lease, and logs what it does not do",
    "manager/kubeControllerManager/flags.test.ts":
      "are removed with their values, however they are written, and logged by their reason",
    "parity/stockPolicy.test.ts": "is enough for the account of ${controller.name}"
  }),
  "K21 others": row(
    "the loops of Services, DaemonSets, Jobs, StatefulSets, disruption budgets and nodes behave as in kube-controller-manager",
    {
      "controllers/statefulset/updating.test.ts": "replaces one pod after the other, from the last to the first",
      "controllers/Job.test.ts": "is complete when its pod has succeeded, and removes the finalizer",
      "controllers/cronjob/loop.test.ts":
        "runs no time twice, respects the concurrency policy, and ends with a correct status",
      "controllers/PvcProtection.test.ts":
        "that a pod uses is kept until the pod is deleted, also after the pod has terminated",
      "controllers/disruption/faults.test.ts": "is never overdrawn, counts no evicted pod as healthy, and converges",
      "controllers/daemonset/loop.test.ts":
        "keeps one pod on each eligible node, and never exceeds maxUnavailable or maxSurge",
      "controllers/Endpoints.test.ts": "have its labels, the managed-by label and the trigger time",
      "controllers/EndpointSlice.test.ts": "has one placeholder slice with the Service's labels and owner",
      "controllers/shared/nodes/deadMachine.test.ts":
        "is detected after fifty seconds, and its pods are replaced on other nodes five minutes later",
      "controllers/TaintEviction.test.ts": "cancels a scheduled eviction with an event when the taint is removed",
      "controllers/HorizontalPodAutoscaler.test.ts":
        "grows with the usage of its pods, with an event, and is reconciled every 15 seconds",
      "controllers/CloudNodeLifecycle.test.ts":
        "deletes a node that is not ready and has no machine, and records an event"
    }
  )
}
