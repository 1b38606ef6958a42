/** The Deployment loop and pod-count, from a user's view. */
import { row, type Rows } from "./row.ts"

export const controllers: Rows = {
  D1: row("the Deployments that a change triggers", {
    "controllers/deployment/twenty.test.ts": "enqueues its Deployment once",
    "controllers/deployment/triggers.test.ts": [
      "its owner, if that is still the same object",
      "its owner even if it is first observed as terminating, and nothing at a resync",
      "the Recreate Deployment whose last pod was deleted",
      "nothing otherwise"
    ]
  }),
  D2: row("runs where its kinds are served, under its name, five at once", {
    "manager/runnables/kinds.test.ts": "waits for a required kind that it does not read",
    "scenario/identity.test.ts": "asks under a name of its own",
    "parity/flags.test.ts": "--${name}",
    "manager/configured.test.ts":
      "the concurrency comes from the controller's flag, its kind, the setting for all, or its default, in this order"
  }),
  D3: row("ownership, hash and revision", {
    "controllers/Deployment.test.ts": "names and labels its ReplicaSet by the template",
    "controllers/deployment/creation.test.ts": [
      "are adopted if they match, and the one with the template is used",
      "are released when they no longer match, and another is created"
    ],
    "controllers/shared/workload/adopt.test.ts": [
      "adopts, releases and ignores as BaseControllerRefManager, for any owner and candidates",
      "fails with the reason if the owner may not adopt"
    ]
  }),
  D4: row("twenty replicas", {
    "controllers/deployment/twenty.test.ts":
      "are created, ready, updated and available; an update keeps at least 15 available and at most 25 in all",
    "controllers/Deployment.test.ts": "reports its progress: progressing, available, complete"
  }),
  D5: row("a rolling update within its bounds", {
    "controllers/deployment/twenty.test.ts":
      "are created, ready, updated and available; an update keeps at least 15 available and at most 25 in all",
    "sequences/withoutFaults.test.ts": "the bounds of every rollout hold for pods at every revision",
    "controllers/deployment/plan/bounds.test.ts": [
      "surge is rounded up",
      "unavailability is rounded down, and never more than all"
    ]
  }),
  D6: row("history and rollback", {
    "controllers/Deployment.test.ts":
      "back to an old template renumbers its set and keeps the former number in the history",
    "controllers/deployment/undo.test.ts": "restores the template and the annotations of the revision, with one update",
    "controllers/deployment/plan/history.test.ts":
      "undo restores exactly the template and the annotations of that revision",
    "scenario/rollout.test.ts": "on the embedded cluster"
  }),
  D7: row("scaling, in proportion in the middle of a rollout", {
    "controllers/deployment/scaled.test.ts": [
      "scales its only set, without a progress condition",
      "during a rollout gives each set its share: 8 and 5 of 13 become 20 and 13 of 33"
    ],
    "controllers/deployment/plan/scaling.test.ts": [
      "the sum is exact",
      "no set moves against the direction, and none below zero"
    ]
  }),
  D8: row("pause and resume", {
    "controllers/deployment/scaled.test.ts": [
      "creates nothing, and has a condition when it is paused and when it is resumed",
      "during a rollout is scaled in proportion, and takes no other step"
    ]
  }),
  D9: row("deletion", {
    "controllers/deployment/creation.test.ts":
      "of a Deployment that is being deleted are not written; its status is kept current",
    "controllers/GarbageCollector.test.ts":
      "in the background deletes the owner at once, then its dependents, then their dependents"
  }),
  D10: row("Recreate", {
    "controllers/deployment/recreate.test.ts":
      "scales down all old pods, waits until the last is gone, and creates all new ones",
    "controllers/deployment/plan/plan.test.ts": "waits for every old pod that is not terminal"
  }),
  D11: row("the progress deadline", {
    "controllers/deployment/deadline.test.ts": "is checked one second after it has passed, and not before",
    "controllers/deployment/plan/progress.test.ts":
      "a recheck comes after the deadline, and no recheck is requested in vain"
  }),
  D12: row("the limit of the history", {
    "controllers/deployment/undo.test.ts": "keeps revisionHistoryLimit old sets, the highest revisions",
    "controllers/deployment/plan/history.test.ts": [
      "a set with pods, or one that is being deleted, is kept",
      "of the sets above the limit, by revision, all idle ones are deleted, and no others in their place"
    ]
  }),
  D13: row("fifteen retries", {
    "controllers/deployment/creation.test.ts":
      "leads to one condition whatever the number of retries, and is dropped after fifteen",
    "streams/reconcile/Reconcile.test.ts":
      "gives up a key after its retries, resets its backoff, and runs it again when it is added"
  }),
  H1: row("with and without election, by a flag", {
    "scenario/startStop.test.ts":
      "logs that once, runs on the embedded cluster, labels and records within 15 s, stops on Ctrl-C",
    "scenario/election.test.ts":
      "one of three writes; another takes over when it stops and when it is killed, and none when another holder takes the lease"
  }),
  H2: row("a first signal stops, a second ends", {
    "scenario/startStop.test.ts": [
      "${signal} is an orderly stop too",
      "is ended at once by a second signal, with code 1"
    ],
    "manager/process/orderlyStop.test.ts":
      "a second SIGINT or SIGTERM ends the process at once; a second SIGHUP does not"
  }),
  H3: row("--kubeconfig", {
    "scenario/settings.test.ts":
      "the flag overrides the variable, the variable overrides the file; a dry run writes only to the lease",
    "scenario/badInput.test.ts": "does not exist, is a folder, or is not named"
  }),
  H4: row("no resync with 0", {
    "manager/settings/cache.test.ts": "is infinite with zero, under both names"
  }),
  H5: row("informers start after all listeners have registered; later listeners get all objects", {
    "manager/startOrder.test.ts":
      "contacts the server, syncs the kinds, acquires the lease, builds the controllers, and then reconciles",
    "layers/Cache.test.ts":
      "changes yields the present objects, then the live deltas, and a later subscriber causes no list"
  }),
  H6: row("the dependencies of a controller, and the name of the cluster", {
    "layers/Controller.types.ts": ["needsServices", "namesCluster"],
    "scenario/flags.test.ts": "error: no lines when nothing fails; the name of the cluster is logged when it connects"
  }),
  H7: row("nothing before the first sync", {
    "controllers/PodCount.test.ts": "writes nothing before the first sync, however long the list fails",
    "scenario/isolation.test.ts": "ends the process with strict isolation"
  }),
  H8: row("events are logged and sent", {
    "layers/Recorder.test.ts": [
      "logs every event, sent or not",
      "writes a core/v1 event as kubectl describe expects it, and increments its count"
    ],
    "controllers/PodCount.test.ts": "records the event 'pod count is N' on each pod, counted up while N stays"
  }),
  H9: row("every ten seconds, at once the first time, whatever the result of a run", {
    "layers/controller/periodic.test.ts": "runs at once, keeps its schedule when runs fail or die, and logs each",
    "layers/Schedules.test.ts": [
      "spaced counts from the end of a run: 0, 12, 24",
      "nonSliding counts from the start of a run: 0, 10, 20",
      "after a run longer than the period nonSliding runs at once, and spaced waits"
    ]
  }),
  H10: row("counts without a request", {
    "controllers/PodCount.test.ts": "sends no read once synced, and no write while nothing changes"
  }),
  H11: row("names the pods at debug only", {
    "scenario/flags.test.ts": [
      "json and debug: the known lines, in their order, with their keys; pods are named at debug only",
      "info without a format: lines for people on the embedded cluster, without pods and sources; devel shows them"
    ]
  }),
  H12: row("the label", {
    "controllers/PodCount.test.ts": [
      "writes the number of pods on the control-plane nodes, at once and within 10 s of a change",
      "sends no read once synced, and no write while nothing changes",
      "a failed write of one node affects neither other nodes nor events",
      "a configured selector replaces the two role labels"
    ]
  }),
  H13: row("the event", {
    "controllers/PodCount.test.ts": "records the event 'pod count is N' on each pod, counted up while N stays",
    "layers/Recorder.test.ts": "sends at most 25 equal events in a row",
    "layers/recorder/correlator.test.ts": "lets 25 events pass at once, then one in 300 s, for each source and object"
  }),
  H14: row("only as leader", {
    "scenario/election.test.ts":
      "one of three writes; another takes over when it stops and when it is killed, and none when another holder takes the lease",
    "layers/Controller.test.ts":
      "a scheduled run finishes when the scope closes, and is interrupted by a loss of leadership"
  })
}
