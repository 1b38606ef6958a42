/** The skeleton of kube-controller-manager. */
import { row, type Rows } from "./row.ts"

export const kubeControllerManager: Rows = {
  K1: row("reconciles are told keys, and end the same whatever the events", {
    "streams/queue/levels.test.ts": "a thousand orders of events about one object end with the same state"
  }),
  K2: row("each dependency is a service, and a program that lacks one does not compile", {
    "layers/Controller.types.ts": ["needsServices", "withoutCache", "withoutClient", "withoutRecorder", "enough"]
  }),
  K3: row("controllers ask under names, or as accounts, of their own", {
    "scenario/identity.test.ts": [
      "asks under a name of its own",
      "writes as an account of its own with --use-service-account-credentials"
    ],
    "manager/identity/accounts.test.ts": "is made when it is missing, and presents a token and no certificate"
  }),
  K4: row("one list and watch of a kind, however many controllers ask", {
    "layers/controller/sharing.test.ts": "three that read pods are one watch of pods, and each receives every pod once",
    "layers/Cache.test.ts":
      "one informer serves all subscribers; it outlives the last by the idle time and is reused within it"
  }),
  K5: row("reads come from the cache", {
    "layers/Cache.test.ts": "changes: what is present first, without a list for a late subscriber, then what happens",
    "controllers/PodCount.test.ts": "sends no read once synced, and no write while nothing changes"
  }),
  K6: row("settings in force are shown, secrets redacted", {
    "scenario/endpoints.test.ts": "settings are those that the program runs with, whoever said them",
    "manager/debug/configuration.test.ts": [
      "equals the values in force, and says who said them",
      "keeps secrets to itself, wherever they came from"
    ]
  }),
  K7: row("discovery is lazy, and finds what was installed later", {
    "layers/Discovery.test.ts": [
      "asks nothing before the first question, and each thing once",
      "a miss is asked for again, but not more often than every ten seconds; then the new kind is found",
      "aggregated discovery answers for all groups with one call"
    ]
  }),
  K8: row("a kind that is not served skips its controllers, or is waited for", {
    "manager/runnables/kinds.test.ts": [
      "waits and says so, is no reason to be unready, starts when it comes and stops when it goes",
      "is skipped for good with missingKinds=skip: one log line, and no further discovery"
    ]
  }),
  K9: row("cloud loops run here or elsewhere, and nowhere without a cloud", {
    "manager/runnables/cloud.test.ts": [
      "do not run with an external cloud provider, and to name one is an error",
      "run here with a cloud, and nothing does without one"
    ]
  }),
  K10: row("a stop closes every watch, and nothing keeps the process", {
    "scenario/stopAnywhere.test.ts":
      "gives the lease back, then sends the events, then closes the watches, and answers probes meanwhile",
    "scenario/startStop.test.ts": "${signal} is an orderly stop too"
  }),
  K11: row("whoever registers late gets the whole first list, once", {
    "layers/Cache.test.ts": [
      "changes: what is present first, without a list for a late subscriber, then what happens",
      "synced means that every listener was called; a listener that throws is reported and affects no other"
    ],
    "manager/startOrder.test.ts": "works on nothing before the first list has come, and then on all of it once"
  }),
  K12: row("resyncs at random periods within their bounds, without a request", {
    "layers/CacheNamespaces.test.ts": [
      "a resync distributes every object as an update that changes nothing, without a request",
      "around its period, a tenth at most",
      "at least its period, at most twice"
    ],
    "scenario/watching.test.ts": "--sync-period: everything is looked at again, and the server is not asked"
  }),
  K13: row("controllers have states and pages of their own, behind the filter", {
    "manager/debug/standing.test.ts": "is: ${expected}",
    "manager/debug/pages.test.ts":
      "a page of a controller's own is there while it runs, below its name and nowhere else",
    "scenario/endpoints.test.ts": "is served to clients with the right, and to no others"
  }),
  K14: row("names are unique, aliases lead to them", {
    "manager/registry.test.ts": ["two controllers of one name are an error", "an alias is the name it stands for"]
  }),
  K15: row("--controllers, its star and its minus", {
    "scenario/flags.test.ts":
      "with a minus leaves one out and says so; with names those run and no others, by whatever name",
    "manager/registry.test.ts": [
      "the first explicit mention wins over the star, wherever it stands",
      "an unknown name is an error that lists the known ones"
    ],
    "scenario/badInput.test.ts": "a wrong command line, found before any cluster is"
  }),
  K16: row("starts are apart by the interval, up to twice", {
    "manager/Manager.test.ts":
      "leaves the start interval between two controllers, up to twice, and none before the first"
  }),
  K17: row("one controller starts first; its failure ends the manager", {
    "manager/runnables/startFirst.test.ts": [
      "is awaited until everything that its first list asked for is done",
      "that is not ready in time ends the manager, whatever the isolation",
      "that fails to start ends the manager"
    ]
  }),
  K18: row("phases in their order", {
    "manager/startOrder.test.ts":
      "asks the server, reads the kinds, takes the lease, builds the controllers, and only then works",
    "scenario/servers.test.ts": "alive at once, ready when all has synced, every series there; closed at the end"
  }),
  K19: row("a server that cannot be reached ends the start after ten seconds", {
    "scenario/badInput.test.ts": [
      "a server that refuses connections is waited for, ten seconds",
      "a server that never answers is waited for, ten seconds"
    ]
  }),
  K20: row("so many keys at once, and no more", {
    "layers/controller/defaults.test.ts": "keys at once: ${title}",
    "manager/runnables/concurrency.test.ts": [
      "is the default without a setting",
      "is the flag's, the kind's, everybody's, in that order"
    ],
    "streams/reconcile/reconcileLoop.test.ts": "never overlaps, never forgets, counts every failure and ends up empty"
  }),
  K21: row("core loops: known, on, off, each alone, under the standard lease", {
    "scenario/flags.test.ts":
      "with a minus leaves one out and says so; with names those run and no others, by whatever name",
    "scenario/commands.test.ts": "${spelling} lists every flag, every controller and the exit codes",
    "scenario/coreLease.test.ts": [
      "are off by default, and nothing is elected",
      "wait for kube-controller-manager's lease and say who holds it; our own controllers do not wait"
    ]
  }),
  "K21 in place": row("runs under its command line, on its port, with its rights and no others", {
    "scenario/inPlace.test.ts":
      "runs its loops with its command line, on its port and under its lease, and says what it does not do",
    "manager/kubeControllerManager/flags.test.ts":
      "are removed with their values, however they are written, and logged by their reason",
    "parity/stockPolicy.test.ts": "is enough for the account of ${controller.name}"
  }),
  "K21 others": row(
    "the loops of Services, daemons, Jobs, replicas with names, disruption budgets and nodes do what theirs do",
    {
      "controllers/statefulset/updating.test.ts": "replaces one pod after the other, from the last to the first",
      "controllers/Job.test.ts": "is complete when its pod has succeeded, and removes the finalizer",
      "controllers/cronjob/loop.test.ts":
        "runs no time twice, respects the concurrency policy, and ends with a correct status",
      "controllers/PvcProtection.test.ts": "that a pod uses stays until the pod is gone, also after it has ended",
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
