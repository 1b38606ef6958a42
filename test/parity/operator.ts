/** An operator's manager as controller-runtime has it. */
import { none, row, type Rows } from "./row.ts"

export const operator: Rows = {
  M1: row("--metrics-addr; 0 opens no port", {
    "scenario/flags.test.ts": "is --metrics-bind-address by its old name; 0 opens no port at all",
    "layers/http/address.test.ts": ["${text} is read, and written as it was", '"${text}" means off']
  }),
  M2: row("feature gates", {
    "manager/gates.test.ts": 'reads "${text}"',
    "manager/metrics/features.test.ts": "every gate is a series, by name and stage, that is 1 when it is on",
    "scenario/badInput.test.ts": "a wrong command line, found before any cluster is"
  }),
  M3: row("--enable-leader-election; of several replicas one works", {
    "scenario/election.test.ts":
      "one of three writes; another does when it stops, when it is killed, and none when the lease is stolen",
    "manager/process/commandLine.test.ts": "knows flags by their other names"
  }),
  M4: row("--skip-webhook-config: no listener and no certificate, or one that is mounted or made", {
    "scenario/webhooks.test.ts": [
      "open no port and read no file when they are turned off",
      "are not served when it ${title}",
      "show its successor to clients once it has been renewed"
    ]
  }),
  M5: row("flags of the log", {
    "scenario/flags.test.ts": [
      "json and debug: the lines that operators know, in their order, with their keys; pods are named at debug only",
      "info and nothing said of the form: for people on the embedded cluster, without pods and sources; devel shows them"
    ],
    "manager/logs/Logs.test.ts": ["write the time as ${time}", "show stacks from their level on, and the error always"],
    "manager/settings.test.ts": [
      "of verbosity are words, or numbers that stand for them",
      "of logs follow the cluster and development, unless they were given"
    ]
  }),
  M6: row("WATCH_NAMESPACE", {
    "scenario/watching.test.ts": [
      "WATCH_NAMESPACE: what is in these namespaces is worked on, and nothing is asked about all of them",
      "what cannot be meant of namespaces ends the program with 2, and one line"
    ]
  }),
  M7: row("kinds that nobody knows are told by group and name", {
    "layers/Discovery.test.ts":
      "a miss is asked for again, but not more often than every ten seconds; then the new kind is found"
  }),
  M8: row("kinds and their paths", {
    "kube/Resource.test.ts": "of ${of}: ${path}",
    "layers/Discovery.test.ts": "a legacy group is read version by version, the preferred one first"
  }),
  M9: row("--sync-period", {
    "manager/settings/cache.test.ts": "is about ten hours by default",
    "layers/CacheNamespaces.test.ts":
      "a resync distributes every object as an update that changes nothing, without a request"
  }),
  M10: row("parts are layers: a test brings its own", {
    "testing/ClusterTest.test.ts": "apply stores every document; run reconciles them; settle is enough to see it",
    "layers/KubeClient.test.ts": "each verb has its method, path, query, headers and body"
  }),
  M11: row("kinds that are always read live", {
    "layers/controller/sharing.test.ts": "a kind that is read live is read by a request each time, and not watched",
    "layers/Cache.test.ts": "a read without a subscription fails with what to declare, and makes no request"
  }),
  M12: row("--dry-run", {
    "manager/cluster/dryRun.test.ts": "leaves the server as it was after every kind of write",
    "scenario/settings.test.ts":
      "the flag stands before the variable, the variable before the file; a dry run writes to the lease and nowhere else"
  }),
  M13: row("events, counted", {
    "layers/Recorder.test.ts": [
      "writes a core/v1 event as kubectl describe expects it, and raises its count",
      "logs every event, whatever becomes of it"
    ],
    "scenario/startStop.test.ts":
      "says so once, runs on the embedded cluster, labels and records within 15 s, stops on Ctrl-C"
  }),
  M14: row("the webhook listener: reviews over TLS", {
    "scenario/webhooks.test.ts": ["are called by the embedded server", "are called by a real API server"],
    "manager/webhooks/overHttps.test.ts": [
      "answer whatever is sent to them, in HTTP/1.1",
      "are asked by the embedded server"
    ]
  }),
  M15: row("reads from the cache, writes to the server, one's own writes seen", {
    "layers/Controller.test.ts": [
      "case 14: a reconcile sees its own write: the key waits until the cache has it, without a worker",
      "case 14: the wait for one's own write ends after 5 s when the event never comes",
      "case 14: a write that changes nothing is not waited for"
    ]
  }),
  M16: row("where the kubeconfig comes from", {
    "platform/KubeConfig.test.ts": [
      "--kubeconfig, then KUBECONFIG, then the pod, then the home directory, then nothing",
      "the files of KUBECONFIG are merged, the first to name something wins, missing ones are skipped"
    ],
    "scenario/badInput.test.ts": "is not there, is a folder, is not named at all"
  }),
  M17: row("registration: what cannot be meant does not compile, names are unique", {
    "layers/Controller.types.ts": ["declared", "nameless", "ownsWithoutFor", "twoFors", "idle", "idleSchedule"],
    "layers/Controller.test.ts": [
      "runs for what is there, then for every change, once a key",
      "owns: a change of a dependent asks for its controller",
      "watches: a trigger of one's own leads to the keys"
    ],
    "manager/Manager.test.ts": "cannot be started twice, nor a controller in it"
  }),
  M18: row("what runs with and without the lease", {
    "manager/Manager.test.ts": "a lost lease ends the manager, and the controllers get the reason"
  }),
  M19: row("metrics on a standby", {
    "scenario/servers.test.ts": "a standby is ready and shows the series of what it would run"
  }),
  M20: row("probes: alive before the caches have synced, ready after", {
    "manager/servers.test.ts": "both servers respond until their scope closes, and are ready once the checks pass",
    "manager/probes/readiness.test.ts":
      "names the kind that has not synced with its last error, is ready when it has, and not after the end",
    "scenario/servers.test.ts": "alive at once, ready when all has synced, every series there; closed at the end"
  }),
  M21: row("no work on a cold cache", {
    "layers/Controller.test.ts": "an informer that cannot sync delays this controller and no other, and fails none",
    "manager/startOrder.test.ts": "works on nothing before the first list has come, and then on all of it once"
  }),
  M22: row("without an election everybody leads", { "leader/Election.test.ts": "is one term that never ends" }),
  M23: row("the first failure ends it; all are told", {
    "manager/Manager.test.ts": [
      "a supervised fiber that fails ends it with a line that names the controller and the cause",
      "ends with everything that went wrong, what came first at the head"
    ]
  }),
  M24: row("an ordered stop; late failures are logged", {
    "layers/Shutdown.test.ts":
      "takes no key, lets work finish, gives the lease back, sends events, closes watches, then servers",
    "manager/Manager.test.ts": "an error during an orderly stop is logged, and does not fail the stop"
  }),
  M25: row("nothing is started twice", {
    "manager/Manager.test.ts": "cannot be started twice, nor a controller in it"
  }),
  M26: row("sources are there before anybody waits for them", {
    "layers/controller/log.test.ts": "begin and end with what operators know",
    "layers/Cache.test.ts":
      "synced means that every listener was called; a listener that throws is reported and affects no other"
  }),
  M27: row("a sync has a limit, whose end names controller, kind and reason", {
    "manager/runnables/isolation.test.ts":
      "ends with controller, kind and the last error when the time is over (warm: ${warm})",
    "scenario/badInput.test.ts": "403 on a list, with strict isolation, names controller, verb and resource"
  }),
  M28: row("workers, and how many there are", {
    "layers/controller/defaults.test.ts": "keys at once: ${title}",
    "layers/controller/log.test.ts": "begin and end with what operators know",
    "streams/reconcile/loopMetrics.test.ts": "measure how long keys waited and runs took, and what goes on right now"
  }),
  M29: none(
    "a worker that dies of a defect of the queue is restarted after a second",
    "There is no fiber to restart: keys are handed out by one synchronous machine, and what a run dies of is its key's failure."
  ),
  M30: row("never twice at once on one object", {
    "streams/reconcile/reconcileLoop.test.ts": "never overlaps, never forgets, counts every failure and ends up empty",
    "streams/reconcile/Reconcile.test.ts":
      "case 12: 10,000 keys and a hot one: never two at once, once more after, first in first out, none starves"
  }),
  M31: row("the queue is shut down, defects are logged", {
    "streams/queue/KeyedQueue.test.ts": "closing the scope shuts the queue down",
    "layers/Controller.test.ts": "a defect in a reconcile is its key's failure, not the process's"
  }),
  M32: row("the lines that operators know", {
    "scenario/flags.test.ts":
      "json and debug: the lines that operators know, in their order, with their keys; pods are named at debug only",
    "layers/controller/log.test.ts": "begin and end with what operators know"
  }),
  M33: row("events are keys: many of them are one run", {
    "streams/queue/levels.test.ts": "ten thousand events about a key that is being worked on are one more run"
  })
}
