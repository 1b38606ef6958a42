/** Settings: which controllers run, and what applies to all of them. */
import * as Duration from "effect/Duration"
import type { Loops } from "../../layers/controller/defaults.ts"
import * as Gates from "../gates.ts"
import * as Concurrency from "../runnables/concurrency.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"

/** The feature gates of every program: behaviour that can be switched on or off until it is always on. Controllers have gates beside them. */
export const gates = [
  {
    name: "PriorityAging",
    stage: "BETA",
    byDefault: true,
    summary:
      "Objects of the first list gain priority over changed ones the longer they wait; without it they may wait forever"
  },
  {
    name: "RenewalThread",
    stage: "BETA",
    byDefault: true,
    summary: "Leases are renewed by a thread of their own, so that a busy process does not lose them"
  },
  {
    name: "WatchListClient",
    stage: "BETA",
    byDefault: true,
    summary: "First lists are streamed if the server supports it and --watch-list=auto"
  }
] as const satisfies ReadonlyArray<Setting.Gate>

/** Whether a feature gate is on. */
export const isOn = (
  { featureGates }: Pick<Setting.Values<typeof settings>, "featureGates">,
  name: (typeof gates)[number]["name"]
): boolean => featureGates.get(name) === true

/** The setting for all gates of a program. */
export const featureGates = (all: ReadonlyArray<Setting.Gate>): Setting.Setting<Gates.Gates> =>
  Setting.make(Gates.codec(all), {
    name: "feature-gates",
    group: "controllers",
    description: "Feature gates, Name=true,Other=false; AllAlpha and AllBeta set all of a stage",
    default: ""
  })

export const settings = {
  controllers: Setting.make(Codecs.list(), {
    name: "controllers",
    group: "controllers",
    description: "Controllers to run: * for those on by default, name, -name",
    default: "*"
  }),
  featureGates: featureGates(gates),
  startInterval: Setting.make(Codecs.duration, {
    name: "controller-start-interval",
    group: "controllers",
    description: "Time between the starts of two controllers at least, and at most twice that",
    default: "0s"
  }),
  cloudLoops: Setting.make(Codecs.choice(["include", "external"]), {
    name: "cloud-loops",
    group: "controllers",
    description: "Where cloud controllers run: include is in this program, external in the cloud's own program",
    default: "external"
  }),
  cloudProvider: Setting.optional(Codecs.text("name"), {
    name: "cloud-provider",
    group: "controllers",
    description: "Cloud provider of these; there is memory, where every node has a running machine"
  }),
  accountCredentials: Setting.make(Codecs.boolean, {
    name: "use-service-account-credentials",
    env: "CM_USE_SA_CREDENTIALS",
    group: "controllers",
    description:
      "Each controller writes as a service account of its own in kube-system, which is created if it is missing",
    default: "false"
  }),
  missingKinds: Setting.make(Codecs.choice(["wait", "skip"]), {
    name: "missing-kinds",
    group: "controllers",
    description:
      "If the server does not serve a kind that a controller needs: wait starts the controller when the kind is served and stops it when it is not, skip does not run it",
    default: "wait"
  }),
  isolation: Setting.make(Codecs.choice(["independent", "strict"]), {
    name: "cache-isolation",
    group: "cache",
    description:
      "If a kind cannot be read: independent delays only the controllers that need it, strict ends the process after cache-sync-timeout",
    default: "independent"
  }),
  syncTimeout: Setting.make(Codecs.interval, {
    name: "cache-sync-timeout",
    group: "cache",
    description:
      "Time limit for the first sync of a controller's kinds; after it an error is logged, or the process ends",
    default: "2m"
  }),
  concurrency: Setting.make(Codecs.concurrency, {
    name: "max-concurrent-reconciles",
    group: "controllers",
    description:
      "Concurrent reconciles of a controller, unless its own flag or its kind in group-kind-concurrency is set; default is 1, or the default of the controller's own flag",
    default: "1"
  }),
  concurrencyOf: Setting.make(Concurrency.codec, {
    name: "group-kind-concurrency",
    group: "controllers",
    description:
      "Concurrent reconciles by kind, Deployment.apps=5,Namespace=2, unless the controller's own flag is set",
    default: ""
  }),
  priorityQueue: Setting.make(Codecs.boolean, {
    name: "use-priority-queue",
    group: "controllers",
    description: "Reconcile changed objects before those of the first list; without it in the order of arrival",
    default: "true"
  }),
  recoverPanic: Setting.make(Codecs.boolean, {
    name: "recover-panic",
    group: "controllers",
    description: "A reconcile that ends with a defect is retried; without it the process ends",
    default: "true"
  }),
  reconcileTimeout: Setting.make(Codecs.duration, {
    name: "reconciliation-timeout",
    group: "controllers",
    description:
      "A reconcile that takes longer is interrupted and retried, except in controllers of kube-controller-manager; 0s is no limit",
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
  })
}

/** Defaults for all controllers; for two of the settings zero means none. */
export const loops = (values: Setting.Values<typeof settings>): Loops => ({
  concurrency: values.concurrency,
  concurrencyOf: values.concurrencyOf,
  timeout: Duration.isZero(values.reconcileTimeout) ? "none" : values.reconcileTimeout,
  backoff: { base: values.backoffBase, max: values.backoffMax },
  retries: values.maxRetries === 0 ? undefined : values.maxRetries,
  prioritizes: values.priorityQueue,
  recoversDefects: values.recoverPanic,
  aging: isOn(values, "PriorityAging") ? undefined : "off"
})
