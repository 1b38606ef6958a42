import { describe } from "@effect/vitest"
/**
 * Which nodes a DaemonSet's pods belong on. The model has two labels, two taint keys, and every form of selector and
 * toleration.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Eligibility from "../../../../src/controllers/daemonset/plan/eligibility.ts"
import type { DaemonSet, Node } from "../../../../src/kube/resources.ts"
import type * as Taints from "../../../../src/kube/taints.ts"
import { checkProperty } from "../../../support/property.ts"
/** Taints that the node controller sets, and those that a user may set. */
const keys = ["own", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"] as const
const network = "node.kubernetes.io/network-unavailable"

const Taint = Schema.Struct({
  key: Schema.Literals([...keys, network]),
  effect: Schema.Literals(["NoSchedule", "NoExecute", "PreferNoSchedule"])
})

const Toleration = Schema.Struct({
  key: Schema.Literals([...keys, network, ""]),
  effect: Schema.Literals(["NoSchedule", "NoExecute", ""]),
  operator: Schema.Literals(["Exists", "Equal"]),
  /** With the operator `Exists` there is no value. */
  value: Schema.Literals(["", "", "x"]),
  seconds: Schema.UndefinedOr(Schema.Literal(300))
})

const Facts = Schema.Struct({
  name: Schema.Literals(["a", "b"]),
  disk: Schema.Literals(["fast", "slow", "none"]),
  taints: Schema.Array(Taint).check(Schema.isMaxLength(3)),
  nodeName: Schema.UndefinedOr(Schema.Literals(["", "a"])),
  selects: Schema.Boolean,
  requires: Schema.Literals(["nothing", "nothing", "fast", "not slow", "a disk"]),
  tolerations: Schema.Array(Toleration).check(Schema.isMaxLength(3)),
  hostNetwork: Schema.Boolean
})

type Facts = typeof Facts.Type

const facts = Arbitrary.schema(Facts)

const expressions = {
  fast: { key: "disk", operator: "In", values: ["fast"] },
  "not slow": { key: "disk", operator: "NotIn", values: ["slow"] },
  "a disk": { key: "disk", operator: "Exists" }
} as const

const tolerationsOf = ({ tolerations }: Facts): ReadonlyArray<Taints.Toleration> =>
  tolerations.map(({ effect, key, operator, seconds, value }) => ({
    operator,
    ...(key === "" ? {} : { key }),
    ...(effect === "" ? {} : { effect }),
    ...(value === "" ? {} : { value }),
    ...(seconds === undefined ? {} : { tolerationSeconds: seconds })
  }))

const specOf = (given: Facts) => {
  const { hostNetwork, nodeName, requires, selects } = given
  return {
    containers: [],
    ...(hostNetwork ? { hostNetwork } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(selects ? { nodeSelector: { disk: "fast" } } : {}),
    ...(requires === "nothing"
      ? {}
      : {
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [expressions[requires]] }]
              }
            }
          }
        }),
    tolerations: tolerationsOf(given)
  }
}

const setOf = (given: Facts): DaemonSet => ({
  metadata: { name: "log", namespace: "ns" },
  spec: { selector: {}, template: { spec: specOf(given) } }
})

const nodeOf = ({ disk, name, taints }: Facts): Node => ({
  metadata: { name, ...(disk === "none" ? {} : { labels: { disk } }) },
  spec: { taints }
})

const isChosen = ({ disk, name, nodeName, requires, selects }: Facts): boolean =>
  (nodeName !== "a" || name === "a") &&
  (!selects || disk === "fast") &&
  (requires !== "fast" || disk === "fast") &&
  (requires !== "not slow" || disk !== "slow") &&
  (requires !== "a disk" || disk !== "none")

/** From the template, or one of every daemon pod. */
const isTolerated = ({ hostNetwork, tolerations }: Facts, { effect, key }: typeof Taint.Type): boolean =>
  (effect === "NoExecute" && key === "node.kubernetes.io/not-ready") ||
  (effect === "NoSchedule" && key === "node.kubernetes.io/unschedulable") ||
  (effect === "NoSchedule" && key === network && hostNetwork) ||
  tolerations.some(
    (one) =>
      (one.key === key || (one.key === "" && one.operator === "Exists")) &&
      (one.effect === effect || one.effect === "") &&
      (one.operator === "Exists" || one.value === "")
  )

const repels = (given: Facts, ...effects: ReadonlyArray<string>): boolean =>
  given.taints.some((taint) => effects.includes(taint.effect) && !isTolerated(given, taint))

const idOf = ({ effect = "", key = "", operator, value = "" }: Taints.Toleration): string =>
  [key, effect, operator, value].join()

const daemons = (hostNetwork: boolean): ReadonlyArray<string> => [
  "node.kubernetes.io/not-ready,NoExecute,Exists,",
  "node.kubernetes.io/unreachable,NoExecute,Exists,",
  "node.kubernetes.io/disk-pressure,NoSchedule,Exists,",
  "node.kubernetes.io/memory-pressure,NoSchedule,Exists,",
  "node.kubernetes.io/pid-pressure,NoSchedule,Exists,",
  "node.kubernetes.io/unschedulable,NoSchedule,Exists,",
  ...(hostNetwork ? [`${network},NoSchedule,Exists,`] : [])
]

describe("Eligibility", () => {
  checkProperty("a pod is created where the template selects the node and tolerates its taints", facts, (given) => {
    const { shouldRun } = Eligibility.judge(setOf(given))(nodeOf(given))
    return shouldRun === (isChosen(given) && !repels(given, "NoSchedule", "NoExecute"))
  })

  checkProperty(
    "a pod stays where the template selects the node and tolerates its NoExecute taints",
    facts,
    (given) => {
      const { mayStay } = Eligibility.judge(setOf(given))(nodeOf(given))
      return mayStay === (isChosen(given) && !repels(given, "NoExecute"))
    }
  )

  checkProperty("every daemon pod tolerates the taints of node problems without a time limit", facts, (given) => {
    const all = Eligibility.tolerationsOf(specOf(given))
    return daemons(given.hostNetwork).every((wanted) =>
      all.some((one) => idOf(one) === wanted && one.tolerationSeconds === undefined)
    )
  })

  checkProperty("the template's tolerations keep their order, and only the standard ones are added", facts, (given) => {
    const own = specOf(given).tolerations
    const all = Eligibility.tolerationsOf(specOf(given))
    const added = all.slice(own.length).map(idOf)
    return (
      own.every((one, i) => {
        const now = all[i]
        const isOurs = daemons(given.hostNetwork).includes(idOf(one))
        return (
          now !== undefined && idOf(now) === idOf(one) && (isOurs || now.tolerationSeconds === one.tolerationSeconds)
        )
      }) && added.every((id) => daemons(given.hostNetwork).includes(id) && !own.map(idOf).includes(id))
    )
  })

  checkProperty("adding the tolerations twice changes nothing", facts, (given) => {
    const once = Eligibility.tolerationsOf(specOf(given))
    const twice = Eligibility.tolerationsOf({ ...specOf(given), tolerations: [...once] })
    return JSON.stringify(once) === JSON.stringify(twice)
  })
})
