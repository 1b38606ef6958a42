import { describe } from "@effect/vitest"
/** The parts of the DaemonSet plan: update bounds, preferred pod, target node, draft of a pod, and backoff. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as State from "../../../../src/controllers/daemonset/state.ts"
import * as Drafts from "../../../../src/controllers/daemonset/drafts.ts"
import * as Pods from "../../../../src/controllers/daemonset/pods.ts"
import * as Spec from "../../../../src/controllers/daemonset/spec.ts"
import type { DaemonSet, Pod } from "../../../../src/kube/resources.ts"
import { checkProperty, int } from "../../../support/property.ts"
import { boundsOf, PodFacts, podOf, SetFacts, setOf } from "./objects.ts"

const bounded = Arbitrary.all({ set: Arbitrary.schema(SetFacts), desired: int(0, 7) })

const selectors = Arbitrary.schema(
  Schema.Literals(["none", "empty", "empty lists", "labels", "expressions", "unreadable"])
)

const selectorOf: Readonly<Record<string, object | undefined>> = {
  none: undefined,
  empty: {},
  "empty lists": { matchLabels: {}, matchExpressions: [] },
  labels: { matchLabels: { app: "log" } },
  expressions: { matchExpressions: [{ key: "app", operator: "In", values: ["log"] }] },
  unreadable: { matchExpressions: [{ key: "app", operator: "Like", values: ["log"] }] }
}

const numbered = (template: string | undefined): DaemonSet => ({
  ...setOf({ minReady: 0, strategy: "none", maxSurge: undefined, maxUnavailable: undefined }),
  metadata: {
    name: "log",
    namespace: "ns",
    uid: "u",
    ...(template === undefined ? {} : { annotations: { "deprecated.daemonset.template.generation": template } })
  }
})

const generations = Arbitrary.schema(
  Schema.UndefinedOr(Schema.Literals(["", "7", "007", "-7", "seven", "7.5", "9".repeat(30)]))
)

describe("Spec", () => {
  checkProperty(
    "percentages are of the desired nodes, rounded up; zero for both becomes one",
    bounded,
    ({ desired, set }) => {
      const { maxSurge, maxUnavailable } = Spec.bounds(setOf(set), desired)
      const wanted = boundsOf(set, desired)
      return maxSurge === wanted.surge && maxUnavailable === wanted.unavailable
    }
  )

  checkProperty("a rolling update may touch at least one node", bounded, ({ desired, set }) => {
    const { maxSurge, maxUnavailable } = Spec.bounds(setOf(set), desired)
    return Spec.isRolling(setOf(set)) === maxSurge + maxUnavailable > 0
  })

  checkProperty("a set surges if it would with a single node", bounded, ({ set }) => {
    return Spec.surges(setOf(set)) === boundsOf(set, 1).surge > 0
  })

  checkProperty("only an empty selector selects everything, and an absent one nothing", selectors, (kind) => {
    const set = { ...numbered(undefined), spec: { selector: selectorOf[kind], template: {} } } as unknown as DaemonSet
    const isEmpty = kind.startsWith("empty")
    const isGood = kind === "labels" || kind === "expressions"
    return (
      Spec.selectsEverything(set) === isEmpty &&
      Spec.selects(set, { app: "log" }) === isGood &&
      !Spec.selects(set, { app: "web" })
    )
  })

  checkProperty("a template generation counts if it can be parsed", generations, (text) => {
    const expected = text === "7" || text === "007" ? "7" : text === "-7" ? "-7" : undefined
    return Spec.templateGeneration(numbered(text)) === expected
  })
})

const pairs = Arbitrary.schema(
  Schema.Array(Schema.Struct({ facts: PodFacts, name: Schema.Literals(["x", "y", "z"]) })).check(Schema.isMaxLength(4))
)

const placed = Arbitrary.schema(
  Schema.Struct({
    nodeName: Schema.UndefinedOr(Schema.Literals(["", "a"])),
    terms: Schema.Array(
      Schema.Struct({
        key: Schema.Literals(["metadata.name", "metadata.name", "metadata.uid"]),
        operator: Schema.Literals(["In", "In", "NotIn"]),
        values: Schema.Array(Schema.Literals(["b", "c"])).check(Schema.isMaxLength(2))
      })
    ).check(Schema.isMaxLength(2))
  })
)

const labelled = Arbitrary.schema(
  Schema.Struct({
    hash: Schema.UndefinedOr(Schema.Literals(["", "x", "y"])),
    generation: Schema.UndefinedOr(Schema.Literals(["7", "8"])),
    set: Schema.UndefinedOr(Schema.Literals(["7"])),
    wanted: Schema.Literals(["", "x"])
  })
)

describe("Pods", () => {
  checkProperty("the preferred pod is bound, then the oldest, then the first by name", pairs, (given) => {
    const checkDelete = ({ facts, name }: (typeof given)[number]) => `${facts.isBound ? 0 : 1}${facts.born}${name}`
    const sorted = given.map(({ facts, name }) => podOf(facts, name)).toSorted(Pods.first)
    return (
      sorted
        .map((pod) => `${pod.spec?.nodeName === "n" ? 0 : 1}${pod.metadata.creationTimestamp}${pod.metadata.name}`)
        .join() ===
      given
        .toSorted((a, b) => (checkDelete(a) < checkDelete(b) ? -1 : checkDelete(a) > checkDelete(b) ? 1 : 0))
        .map(({ facts, name }) => podOf(facts, name))
        .map((pod) => `${pod.spec?.nodeName === "n" ? 0 : 1}${pod.metadata.creationTimestamp}${pod.metadata.name}`)
        .join()
    )
  })

  checkProperty(
    "a pod's target is the node it is bound to, else the only one that its affinity allows",
    placed,
    (given) => {
      const pod = {
        metadata: { name: "p" },
        spec: {
          containers: [],
          ...(given.nodeName === undefined ? {} : { nodeName: given.nodeName }),
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: given.terms.map((one) => ({ matchFields: [one] }))
              }
            }
          }
        }
      } as Pod
      const named = given.terms.find(({ key, operator }) => key === "metadata.name" && operator === "In")
      const only = named?.values.length === 1 ? named.values[0] : undefined
      return (
        Pods.target(pod) === (given.nodeName === "a" ? "a" : only) && Pods.isBound(pod) === (given.nodeName === "a")
      )
    }
  )

  checkProperty("a pod is current by its hash, or by its template generation", labelled, (given) => {
    const pod = {
      metadata: {
        name: "p",
        labels: {
          ...(given.hash === undefined ? {} : { "controller-revision-hash": given.hash }),
          ...(given.generation === undefined ? {} : { "pod-template-generation": given.generation })
        }
      }
    } as Pod
    const isOfHash = given.wanted === "x" && given.hash === "x"
    const isOfNumber = given.set === "7" && given.generation === "7"
    return Pods.isUpdated(numbered(given.set), given.wanted, pod) === (isOfHash || isOfNumber)
  })

  checkProperty("a place is an owner and a node, for DaemonSet pods only", pairs, (given) =>
    given.every(({ facts, name }) => {
      const own = (kind: string): Pod => {
        const pod = podOf(facts, name)
        const reference = { apiVersion: "apps/v1", kind, name: "log", uid: "u", controller: true }
        return { ...pod, metadata: { ...pod.metadata, ownerReferences: [reference] } }
      }
      return (
        Pods.byPlace.of(own("DaemonSet")).join() === Pods.placeOf({ uid: "u" }, "n") &&
        Pods.byPlace.of(own("ReplicaSet")).length + Pods.byPlace.of(podOf(facts, name)).length === 0
      )
    })
  )
})

const drafted = Arbitrary.schema(
  Schema.Struct({
    hash: Schema.Literals(["", "x"]),
    generation: Schema.UndefinedOr(Schema.Literals(["7"])),
    prefers: Schema.Boolean,
    requires: Schema.Boolean,
    others: Schema.Boolean,
    hostNetwork: Schema.Boolean
  })
)

describe("Drafts", () => {
  checkProperty(
    "a daemon pod is the template with labels, tolerations and an affinity for its node",
    drafted,
    (given) => {
      const nodeAffinity = {
        ...(given.prefers ? { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] } : {}),
        ...(given.requires
          ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [] }] } }
          : {})
      }
      const template = {
        metadata: { labels: { app: "log" } },
        spec: {
          containers: [{ name: "main" }],
          hostNetwork: given.hostNetwork,
          affinity: { nodeAffinity, ...(given.others ? { podAffinity: {} } : {}) }
        }
      }
      const set = { ...numbered(given.generation), spec: { selector: {}, template } } as unknown as DaemonSet
      const draft = Drafts.make(set, given.hash)
      return ["a", "b"].every((node) => {
        const { metadata, spec } = draft(node)
        const affinity = spec?.affinity
        const { nodeAffinity: at } = affinity ?? {}
        return (
          Pods.target({ spec: spec ?? { containers: [] } }) === node &&
          at?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.length === 1 &&
          (at.preferredDuringSchedulingIgnoredDuringExecution?.length === 1) === given.prefers &&
          (affinity?.podAffinity !== undefined) === given.others &&
          spec?.nodeName === undefined &&
          spec?.containers[0]?.name === "main" &&
          spec.tolerations?.length === (given.hostNetwork ? 7 : 6) &&
          metadata.generateName === "log-" &&
          metadata.labels?.["app"] === "log" &&
          metadata.labels["controller-revision-hash"] === (given.hash === "" ? undefined : given.hash) &&
          metadata.labels["pod-template-generation"] === given.generation &&
          metadata.ownerReferences?.[0]?.uid === "u"
        )
      })
    }
  )
})

/** Failures on two nodes of a set in two generations, each after this many milliseconds. */
const failures = Arbitrary.schema(
  Schema.Array(
    Schema.Struct({
      after: Schema.Literals([0, 500, 999, 1000, 1001, 60_000, 900_000, 1_800_000, 1_800_001]),
      node: Schema.Literals(["a", "a", "b"]),
      generation: Schema.Literals([1, 1, 2]),
      times: Schema.Literals([1, 1, 12])
    })
  ).check(Schema.isMaxLength(8))
)

const observed = (generation: number): DaemonSet => ({
  ...numbered(undefined),
  status: {
    observedGeneration: generation,
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0
  }
})

describe("Backoff", () => {
  checkProperty(
    "the delay is 1 s after the first failure, doubles up to 15 min, and is dropped after twice that",
    failures,
    (given) => {
      const backoff = State.makeBackoff()
      const history: Array<{ readonly at: number; readonly key: string }> = []
      /** Recomputed from all failures, oldest first. */
      const expected = (key: string, now: number): number => {
        let [delay, last] = [0, -Infinity]
        for (const { at } of history.filter((one) => one.key === key)) {
          delay = at - last > 1_800_000 ? 1000 : Math.min(2 * delay, 900_000)
          last = at
        }
        return now - last > 1_800_000 ? 0 : Math.max(0, last + delay - now)
      }
      let now = 0
      const all = given.flatMap((one) => Array.from({ length: one.times }, () => one))
      return all.every(({ after, generation, node }) => {
        now += after
        for (const there of ["a", "b"])
          for (const one of [1, 2])
            if (backoff.wait(observed(one), there, now) !== expected(`${there}${one}`, now)) return false
        backoff.next(observed(generation), node, now)
        history.push({ at: now, key: `${node}${generation}` })
        return backoff.wait(observed(generation), node, now) === expected(`${node}${generation}`, now)
      })
    }
  )
})
