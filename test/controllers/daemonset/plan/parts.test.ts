/**
 * What the plan of a DaemonSet asks of its spec and of pods: bounds of an update, which of several pods is the first, for which node one is, what
 * a new one looks like, and how long a failed one is left alone. Spec E.1, E.3, E.7.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Backoff from "../../../../src/controllers/daemonset/backoff.ts"
import * as Drafts from "../../../../src/controllers/daemonset/drafts.ts"
import * as Pods from "../../../../src/controllers/daemonset/pods.ts"
import * as Spec from "../../../../src/controllers/daemonset/spec.ts"
import type { DaemonSet, Pod } from "../../../../src/kube/resources.ts"
import { int, law, prove } from "../../../support/laws.ts"
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

prove<typeof Spec>({
  path: "controllers/daemonset/spec.ts",
  module: Spec,
  laws: [
    law(
      "shares are of the nodes that are wanted, rounded up; nothing at all is one",
      bounded,
      (spec, { desired, set }) => {
        const { maxSurge, maxUnavailable } = spec.bounds(setOf(set), desired)
        const wanted = boundsOf(set, desired)
        return maxSurge === wanted.surge && maxUnavailable === wanted.unavailable
      }
    ),
    law("an update that goes on touches a node", bounded, (spec, { desired, set }) => {
      const { maxSurge, maxUnavailable } = spec.bounds(setOf(set), desired)
      return spec.isRolling(setOf(set)) === maxSurge + maxUnavailable > 0
    }),
    law("a set surges if a single node of it would", bounded, (spec, { set }) => {
      return spec.surges(setOf(set)) === boundsOf(set, 1).surge > 0
    }),
    law("only an empty selector selects everything, and none selects anything then", selectors, (spec, kind) => {
      const set = { ...numbered(undefined), spec: { selector: selectorOf[kind], template: {} } } as unknown as DaemonSet
      const isEmpty = kind.startsWith("empty")
      const isGood = kind === "labels" || kind === "expressions"
      return (
        spec.selectsEverything(set) === isEmpty &&
        spec.selects(set, { app: "log" }) === isGood &&
        !spec.selects(set, { app: "web" })
      )
    }),
    law("an old number is one if it can be read", generations, (spec, text) => {
      const expected = text === "7" || text === "007" ? "7" : text === "-7" ? "-7" : undefined
      return spec.templateGeneration(numbered(text)) === expected
    })
  ],
  mutants: [
    {
      title: "shares are rounded down",
      find: 'rolling?.maxSurge ?? 0, desired, "up"',
      replace: 'rolling?.maxSurge ?? 0, desired, "down"'
    },
    { title: "one may be missing beside a surge", find: "(maxSurge > 0 ? 0 : 1)", replace: "1" },
    { title: "nothing stays nothing", find: "maxSurge === 0 && maxUnavailable === 0 ?", replace: "maxSurge < 0 ?" },
    { title: "old pods are anybody's to delete", find: "if (!isRolling(set)) return still", replace: "" },
    { title: "a set of no nodes says whether it surges", find: "bounds(set, 1)", replace: "bounds(set, 0)" },
    {
      title: "no selector is an empty one",
      find: "spec?.selector !== undefined &&",
      replace: "spec?.selector === undefined ||"
    },
    {
      title: "expressions are not looked at",
      find: " &&\n  (spec.selector.matchExpressions ?? []).length === 0",
      replace: ""
    },
    { title: "anything is a number", find: "/^-?\\d{1,18}$/", replace: "/./" }
  ]
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

prove<typeof Pods>({
  path: "controllers/daemonset/pods.ts",
  module: Pods,
  laws: [
    law("the first one is on its node, then the oldest, then by name", pairs, ({ first }, given) => {
      const weigh = ({ facts, name }: (typeof given)[number]) => `${facts.isBound ? 0 : 1}${facts.born}${name}`
      const sorted = given.map(({ facts, name }) => podOf(facts, name)).toSorted(first)
      return (
        sorted
          .map((pod) => `${pod.spec?.nodeName === "n" ? 0 : 1}${pod.metadata.creationTimestamp}${pod.metadata.name}`)
          .join() ===
        given
          .toSorted((a, b) => (weigh(a) < weigh(b) ? -1 : weigh(a) > weigh(b) ? 1 : 0))
          .map(({ facts, name }) => podOf(facts, name))
          .map((pod) => `${pod.spec?.nodeName === "n" ? 0 : 1}${pod.metadata.creationTimestamp}${pod.metadata.name}`)
          .join()
      )
    }),
    law(
      "a pod is for the node it is on, else for the only one that it may go to",
      placed,
      ({ isBound, target }, given) => {
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
        return target(pod) === (given.nodeName === "a" ? "a" : only) && isBound(pod) === (given.nodeName === "a")
      }
    ),
    law("a pod is of the template by its hash, or by an old number", labelled, ({ isUpdated }, given) => {
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
      return isUpdated(numbered(given.set), given.wanted, pod) === (isOfHash || isOfNumber)
    }),
    law("a place is an owner and a node, of daemons alone", pairs, ({ byPlace, placeOf }, given) =>
      given.every(({ facts, name }) => {
        const own = (kind: string): Pod => {
          const pod = podOf(facts, name)
          const reference = { apiVersion: "apps/v1", kind, name: "log", uid: "u", controller: true }
          return { ...pod, metadata: { ...pod.metadata, ownerReferences: [reference] } }
        }
        return (
          byPlace.of(own("DaemonSet")).join() === placeOf({ uid: "u" }, "n") &&
          byPlace.of(own("ReplicaSet")).length + byPlace.of(podOf(facts, name)).length === 0
        )
      })
    )
  ],
  mutants: [
    {
      title: "who is on no node comes first",
      find: "Number(isBound(b)) - Number(isBound(a)) ||",
      replace: "Number(isBound(a)) - Number(isBound(b)) ||"
    },
    {
      title: "the youngest comes first",
      find: "compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp)",
      replace: "compare(b.metadata.creationTimestamp, a.metadata.creationTimestamp)"
    },
    { title: "names are not looked at", find: "compare(a.metadata.name, b.metadata.name)", replace: "0" },
    {
      title: "an empty name is a node",
      find: 'if (spec?.nodeName !== undefined && spec.nodeName !== "") return',
      replace: "if (spec?.nodeName !== undefined) return"
    },
    {
      title: "one that may go to either is for the first",
      find: "values.length === 1 ? values[0] : undefined",
      replace: "values[0]"
    },
    { title: "where it may not go is where it is for", find: ' && operator === "In"', replace: "" },
    { title: "any field is a name", find: 'key === "metadata.name" && ', replace: "" },
    { title: "no hash is a hash", find: 'hash !== "" && ', replace: "" },
    { title: "no number is a number", find: "generation !== undefined && pod", replace: "pod" },
    { title: "numbers are not looked at", find: "return isOfGeneration ||", replace: "return" },
    {
      title: "everybody's pods are daemons",
      find: 'if (owner?.kind !== "DaemonSet") return none',
      replace: "if (owner === undefined) return none"
    }
  ]
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

prove<typeof Drafts>({
  path: "controllers/daemonset/drafts.ts",
  module: Drafts,
  laws: [
    law("a daemon is the template, marked, and for its node alone", drafted, ({ make }, given) => {
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
      const draft = make(set, given.hash)
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
    })
  ],
  mutants: [
    { title: "what is preferred is lost", find: "...affinity?.nodeAffinity,", replace: "" },
    { title: "what is said of other pods is lost", find: "  ...affinity,\n", replace: "" },
    { title: "all are for one node", find: "values: [node]", replace: 'values: ["a"]' },
    {
      title: "daemons are like others",
      find: "const spec: PodSpec = { ...(template.spec ?? { containers: [] }), tolerations }",
      replace: "const spec: PodSpec = { ...(template.spec ?? { containers: [] }) }; void tolerations"
    },
    { title: "nobody knows the revision", find: "{ [History.hashLabel]: hash })", replace: "{})" },
    { title: "nobody knows the number", find: "{ [Spec.generationLabel]: generation })", replace: "{})" },
    { title: "the labels of the template are lost", find: "...template.metadata?.labels,", replace: "" }
  ]
})

/** Failures on two nodes of a set in two generations, each after so many milliseconds. */
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

prove<typeof Backoff>({
  path: "controllers/daemonset/backoff.ts",
  module: Backoff,
  laws: [
    law(
      "a node waits 1 s after its first failure, twice as long after each, up to 15 min, and forgets",
      failures,
      ({ make }, given) => {
        const backoff = make()
        const history: Array<{ readonly at: number; readonly key: string }> = []
        /** From the whole history, oldest first. */
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
  ],
  mutants: [
    { title: "the first wait is longer", find: "const initial = 1000", replace: "const initial = 2000" },
    { title: "the longest wait is shorter", find: "15 * 60 * 1000", replace: "14 * 60 * 1000" },
    { title: "waits do not grow", find: "before.delay * 2", replace: "before.delay" },
    { title: "waits grow without end", find: "Math.min(before.delay * 2, longest)", replace: "before.delay * 2" },
    { title: "what is old counts", find: "    forgetOld(now)\n", replace: "" },
    {
      title: "too much is forgotten",
      find: "if (now - since <= memory) return",
      replace: "if (now - since < memory) return"
    },
    { title: "all nodes are one", find: "/${node}`", replace: "`" },
    {
      title: "a new generation waits for the old",
      find: "/${status?.observedGeneration ?? 0}/",
      replace: "/${status === undefined}/"
    },
    {
      title: "the oldest is not first",
      find: "      entries.delete(key)\n      entries.set",
      replace: "      entries.set"
    }
  ]
})
