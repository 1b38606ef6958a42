/** Settings: which controllers run, and what applies to all of them. */
import * as Duration from "effect/Duration"
import type { Loops } from "../../layers/controller/defaults.ts"
import * as Gates from "../gates.ts"
import * as Concurrency from "../runnables/concurrency.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

/** Feature gates: behaviour that can be switched on or off until it is always on. */
export const gates = [
  {
    name: "HPAScaleToZero",
    stage: "ALPHA",
    byDefault: false,
    summary: "Autoscalers with an Object or External metric may take the last replica away, and bring it back"
  },
  {
    name: "MaxUnavailableStatefulSet",
    stage: "BETA",
    byDefault: false,
    summary: "As many replicas of a StatefulSet are replaced at a time as its maxUnavailable allows"
  },
  {
    name: "PriorityAging",
    stage: "BETA",
    byDefault: true,
    summary:
      "What was listed at the start gains on what has changed since the longer it waits; without it it may wait for ever"
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
    summary: "First lists come as a stream, where the server can and --watch-list=auto"
  }
] as const satisfies ReadonlyArray<Gates.Gate>

/** Whether what is behind a gate is on. */
export const isOn = (
  { featureGates }: Pick<Setting.Values<typeof settings>, "featureGates">,
  name: (typeof gates)[number]["name"]
): boolean => featureGates.get(name) === true

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
  cloudLoops: Setting.make(Codecs.choice(["include", "external"]), {
    name: "cloud-loops",
    group: "controllers",
    description: "Where controllers that need a cloud run: include is here, external is in a program of the cloud's",
    default: "external"
  }),
  cloudProvider: Setting.optional(Codecs.text("name"), {
    name: "cloud-provider",
    group: "controllers",
    description: "The cloud that they ask; there is memory, in which every node has a machine that runs"
  }),
  accountCredentials: Setting.make(Codecs.boolean, {
    name: "use-service-account-credentials",
    env: "CM_USE_SA_CREDENTIALS",
    group: "controllers",
    description:
      "Each controller writes as a service account of its own in kube-system, which is made when it is missing",
    default: "false"
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
    description:
      "Objects of one controller worked on at once, where neither its own flag nor its kind in group-kind-concurrency says otherwise; without it 1, or what the controller's own flag has as default",
    default: "1"
  }),
  concurrencyOf: Setting.make(Concurrency.codec, {
    name: "group-kind-concurrency",
    group: "controllers",
    description:
      "Objects of a kind worked on at once, Deployment.apps=5,Namespace=2, where the controller's own flag does not say otherwise",
    default: ""
  }),
  priorityQueue: Setting.make(Codecs.boolean, {
    name: "use-priority-queue",
    group: "controllers",
    description: "Work on what has changed before what was listed at the start; without it in the order of arrival",
    default: "true"
  }),
  recoverPanic: Setting.make(Codecs.boolean, {
    name: "recover-panic",
    group: "controllers",
    description: "A reconcile that dies of a defect is tried again; without it the process ends",
    default: "true"
  }),
  reconcileTimeout: Setting.make(Codecs.duration, {
    name: "reconciliation-timeout",
    group: "controllers",
    description:
      "A reconcile that takes longer is interrupted and tried again, but not one of kube-controller-manager's loops; 0s is no limit",
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

/** What loops do that do not say otherwise themselves; two of the numbers say "none" with a zero. */
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
