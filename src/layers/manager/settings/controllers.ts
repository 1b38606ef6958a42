/** Which controllers run, and what each of them can be told. */
import * as Duration from "effect/Duration"
import type { Loops } from "../../controller/defaults.ts"
import * as Gates from "../gates.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

/** How many keys of one loop at once. */
const syncs = (name: string, initial: number, what: string) =>
  Setting.make(Codecs.concurrency, {
    name,
    group: "tuning",
    description: `${what} worked on at once`,
    default: String(initial)
  })

/** Behaviour that can be switched on or off until it is everybody's. */
export const gates: ReadonlyArray<Gates.Gate> = []

export const settings = {
  controllers: Setting.make(Codecs.list(), {
    name: "controllers",
    group: "controllers",
    description: "Controllers to run: * for those on by default, name, -name",
    default: "*"
  }),
  featureGates: Setting.make(Gates.codec(gates), {
    name: "feature-gates",
    group: "controllers",
    description: "Features to switch, Name=true,Other=false; AllAlpha and AllBeta stand for all of a stage",
    default: ""
  }),
  startInterval: Setting.make(Codecs.duration, {
    name: "controller-start-interval",
    group: "controllers",
    description: "Time between the starts of two controllers at least, and at most twice that",
    default: "0s"
  }),
  missingKinds: Setting.make(Codecs.choice(["wait", "skip"]), {
    name: "missing-kinds",
    group: "controllers",
    description:
      "What becomes of a controller when the server does not serve a kind that it needs: wait starts it when the kind comes and stops it when it goes, skip leaves it out",
    default: "wait"
  }),
  isolation: Setting.make(Codecs.choice(["independent", "strict"]), {
    name: "cache-isolation",
    group: "cache",
    description:
      "What follows when a kind cannot be read: independent delays only the controllers that need it, strict ends the process once cache-sync-timeout is over",
    default: "independent"
  }),
  syncTimeout: Setting.make(Codecs.interval, {
    name: "cache-sync-timeout",
    group: "cache",
    description:
      "Time for the kinds of a controller to be read for the first time; then it is logged, or the process ends",
    default: "2m"
  }),
  concurrency: Setting.make(Codecs.concurrency, {
    name: "max-concurrent-reconciles",
    group: "controllers",
    description: "Objects of one controller worked on at once, where the controller has no flag of its own for it",
    default: "1"
  }),
  reconcileTimeout: Setting.make(Codecs.duration, {
    name: "reconciliation-timeout",
    group: "controllers",
    description: "A reconcile that takes longer is interrupted and tried again; 0s is no limit",
    default: "5m"
  }),
  backoffBase: Setting.make(Codecs.interval, {
    name: "reconcile-backoff-base",
    group: "controllers",
    description: "Delay after the first failure of an object; doubles with every further one",
    default: "5ms"
  }),
  backoffMax: Setting.make(Codecs.interval, {
    name: "reconcile-backoff-max",
    group: "controllers",
    description: "The longest delay after failures, where the controller has none of its own",
    default: "1000s"
  }),
  maxRetries: Setting.make(Codecs.integer({ min: 0, max: 999_999, expected: "a number from 0" }), {
    name: "max-retries",
    group: "controllers",
    description:
      "Retries in a row after which an object is left alone until it changes, where the controller has no limit of its own; 0 is no limit",
    default: "0"
  }),
  podCountInterval: Setting.make(Codecs.interval, {
    name: "pod-count-interval",
    group: "tuning",
    description: "Time between two counts",
    default: "10s"
  }),
  podCountSchedule: Setting.make(Codecs.choice(["spaced", "nonsliding"]), {
    name: "pod-count-schedule",
    group: "tuning",
    description: "Count the interval from the end of a run, or from its start",
    default: "spaced"
  }),
  podCountNodes: Setting.optional(Codecs.labels, {
    name: "pod-count-node-selector",
    group: "tuning",
    description: "Nodes to label; without it those with the control-plane or master role label"
  }),
  deploymentSyncs: syncs("concurrent-deployment-syncs", 5, "Deployments"),
  replicaSetSyncs: syncs("concurrent-replicaset-syncs", 5, "ReplicaSets"),
  replicationControllerSyncs: syncs("concurrent-rc-syncs", 5, "ReplicationControllers"),
  gcSyncs: syncs("concurrent-gc-syncs", 20, "Objects that the garbage collector has"),
  namespaceSyncs: syncs("concurrent-namespace-syncs", 10, "Namespaces"),
  namespaceSyncPeriod: Setting.make(Codecs.interval, {
    name: "namespace-sync-period",
    group: "tuning",
    description: "Time after which namespaces are looked at again",
    default: "5m"
  }),
  terminatedPodThreshold: Setting.make(Codecs.integer({ min: -999_999_999, max: 999_999_999, expected: "a number" }), {
    name: "terminated-pod-gc-threshold",
    group: "tuning",
    description: "So many terminated pods are kept; 0 and less keep all",
    default: "12500"
  })
}

/** What loops do that do not say otherwise themselves; two of the numbers say "none" with a zero. */
export const loops = (values: Setting.Values<typeof settings>): Loops => ({
  concurrency: values.concurrency,
  timeout: Duration.isZero(values.reconcileTimeout) ? "none" : values.reconcileTimeout,
  backoff: { base: values.backoffBase, max: values.backoffMax },
  retries: values.maxRetries === 0 ? undefined : values.maxRetries
})
