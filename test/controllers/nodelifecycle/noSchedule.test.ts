/** Reconciling a single node or pod: it is enqueued while a write is needed, whatever the result of the write, and not afterwards. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Triggers from "../../../src/controllers/NodeLifecycle.ts"
import type { Deps } from "../../../src/controllers/nodelifecycle/deps.ts"
import * as State from "../../../src/controllers/nodelifecycle/state.ts"
import * as NoSchedule from "../../../src/controllers/nodelifecycle/noSchedule.ts"
import * as ApiError from "../../../src/kube/ApiError.ts"
import type * as Patch from "../../../src/kube/Patch.ts"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import { checkProperty, type ValueOf } from "../../support/property.ts"
import { deltaKinds, deltaOf } from "../../support/stores.ts"

const state = (): State.State =>
  State.make({
    period: 5000,
    grace: 50_000,
    startupGrace: 60_000,
    normal: 0.1,
    secondary: 0.01,
    large: 50,
    unhealthy: 0.55
  })

const NodeFacts = Schema.Struct({
  ready: Schema.Literals(["True", "False", "Unknown", "none"]),
  isCordoned: Schema.Boolean,
  taints: Schema.Array(Schema.Literals(["not-ready", "unreachable", "unschedulable"])).check(Schema.isMaxLength(2)),
  isMine: Schema.Boolean,
  os: Schema.Literals(["", "linux"]),
  oldOs: Schema.Literals(["", "linux", "other"])
})

type NodeFacts = typeof NodeFacts.Type

const mine = { key: "example.com/mine", effect: "NoSchedule" }

const nodeOf = ({ isCordoned, isMine, oldOs, os, ready, taints }: NodeFacts): Node => ({
  metadata: {
    name: "n",
    resourceVersion: "7",
    labels: {
      ...(os === "" ? {} : { "kubernetes.io/os": os }),
      ...(oldOs === "" ? {} : { "beta.kubernetes.io/os": oldOs })
    }
  },
  spec: {
    ...(isCordoned ? { unschedulable: true } : {}),
    taints: [
      ...[...new Set(taints)].map((key) => ({ key: `node.kubernetes.io/${key}`, effect: "NoSchedule" })),
      ...(isMine ? [mine] : [])
    ]
  },
  status: { conditions: ready === "none" ? [] : [{ type: "Ready", status: ready }] }
})

/** The keys of the NoSchedule taints that the node should have. */
const wanted = ({ isCordoned, isMine, ready }: NodeFacts): string =>
  [
    ...(ready === "False" ? ["node.kubernetes.io/not-ready"] : []),
    ...(ready === "Unknown" ? ["node.kubernetes.io/unreachable"] : []),
    ...(isCordoned ? ["node.kubernetes.io/unschedulable"] : []),
    ...(isMine ? [mine.key] : [])
  ]
    .toSorted()
    .join()

const taintsOf = ({ spec }: Node): string =>
  (spec?.taints ?? [])
    .map(({ key }) => key)
    .toSorted()
    .join()

const isCorrect = (facts: NodeFacts): boolean =>
  taintsOf(nodeOf(facts)) === wanted(facts) && (facts.os === "" || facts.oldOs === facts.os)

const nodeDeltas = Arbitrary.schema(Schema.Struct({ kind: deltaKinds, before: NodeFacts, after: NodeFacts }))

const podDeltas = Arbitrary.schema(
  Schema.Struct({
    kind: deltaKinds,
    before: Schema.Literals(["", "n", "other"]),
    after: Schema.Literals(["", "n", "n", "other"]),
    checked: Schema.Literals(["nobody", "none", "True", "False", "Unknown"])
  })
)

const podOf = (node: string, isReady = true): Pod => ({
  metadata: { namespace: "ns", name: "p" },
  spec: { containers: [], ...(node === "" ? {} : { nodeName: node }) },
  status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] }
})

const checking = (checked: string): State.State => {
  const all = state()
  const facts: NodeFacts = { ready: "none", isCordoned: false, taints: [], isMine: false, os: "", oldOs: "" }
  if (checked === "nobody") return all
  const status = checked === "none" ? {} : { status: { conditions: [{ type: "Ready", status: checked }] } }
  all.checked.set("n", { ...nodeOf(facts), ...status })
  return all
}

const isDown = (checked: string): boolean => checked === "False" || checked === "Unknown"

describe("Triggers", () => {
  checkProperty("a node is enqueued when there is something to write", nodeDeltas, ({ after, before, kind }) => {
    const keys = Triggers.onNode(deltaOf(kind, nodeOf(after), nodeOf(before)))
    return keys.join() === (kind === "Deleted" || isCorrect(after) ? "" : "n")
  })

  checkProperty("a pod is enqueued when it is bound to a node that is not ready", podDeltas, (one) => {
    const keys = Triggers.onPod(checking(one.checked))(deltaOf(one.kind, podOf(one.after), podOf(one.before)))
    const comes = one.kind === "Created" || (one.kind === "Updated" && one.before !== one.after)
    return keys.join() === (comes && one.after === "n" && isDown(one.checked) ? "ns/p" : "")
  })
})

const answers = Schema.Literals(["done", "done", "Conflict", "NotFound", "ServerError", "lost"])

const setups = Arbitrary.schema(
  Schema.Struct({
    node: NodeFacts,
    isThere: Schema.Literals([true, true, true, false]),
    isReady: Schema.Boolean,
    checked: Schema.Literals(["nobody", "none", "True", "False", "Unknown"]),
    answers: Schema.Array(answers).check(Schema.isMaxLength(4))
  })
)

type Setup = ValueOf<typeof setups>

const codes: Readonly<Record<string, number>> = { Conflict: 409, NotFound: 404, ServerError: 500, lost: 500 }

/** A server with one node and one pod. The setup lists the results of its writes; the cache holds what was written. */
const fixture = (setup: Setup) => {
  const results = [...setup.answers]
  let node = setup.isThere ? nodeOf(setup.node) : undefined
  let pod = setup.isThere ? podOf("n", setup.isReady) : undefined
  const absent = ApiError.fromStatus({ context: { verb: "get", path: "/" }, status: 404, body: "NotFound" })
  const sent: Array<object> = []
  let recorded = 0
  const write = <A>(act: () => A): Effect.Effect<A, ApiError.ApiError> =>
    Effect.suspend(() => {
      const answer = results.shift() ?? "done"
      if (answer === "NotFound") [node, pod] = [undefined, undefined]
      const done = answer === "done" || answer === "lost" ? act() : undefined
      return done !== undefined && answer === "done"
        ? Effect.succeed(done)
        : Effect.fail(
            ApiError.fromStatus({ context: { verb: "patch", path: "/" }, status: codes[answer] ?? 500, body: answer })
          )
    })
  const deps = {
    nodes: { get: () => node },
    pods: { get: () => pod },
    live: () => Effect.suspend(() => (node === undefined ? Effect.fail(absent) : Effect.succeed(node))),
    patch: (_: string, { body }: Patch.Patch) =>
      write(() => {
        sent.push(body as object)
        // JSON leaves out undefined fields, as in a request.
        const text = JSON.stringify(body)
        const { metadata, spec } = JSON.parse(text) as {
          readonly metadata: { readonly labels?: object }
          readonly spec?: object
        }
        const before = node as Node
        const labels = { ...before.metadata.labels, ...metadata.labels } as Record<string, string>
        node = { ...before, metadata: { ...before.metadata, labels }, spec: { ...before.spec, ...spec } }
        return node
      }),
    updatePodStatus: (after: Pod) => write(() => (pod = after)),
    events: {
      event: () => Effect.void,
      normal: () => Effect.void,
      warning: () =>
        Effect.sync(() => {
          recorded++
        })
    }
  } as unknown as Deps
  return { deps, sent, node: () => node, pod: () => pod, recorded: () => recorded }
}

/** Repeats the sync until it is done, and returns the number of runs. */
const runAll = (run: Effect.Effect<{ readonly _tag: string }, ApiError.ApiError>) =>
  Effect.gen(function* () {
    for (let count = 1; count < 20; count++) {
      const done = yield* Effect.result(run)
      if (done._tag === "Success" && done.success._tag === "Done") return count
    }
    return Infinity
  })

/** The position of the first write that is not refused. */
const acceptedOf = ({ answers }: Setup): number => {
  const found = answers.findIndex((answer) => answer === "done" || answer === "NotFound" || answer === "lost")
  return found === -1 ? answers.length : found
}

/** The expected number of syncs of a node: one more after every error and every lost response. A conflict is resolved within a sync. */
const runsOf = (setup: Setup): number => {
  if (!setup.isThere || isCorrect(setup.node)) return 1
  const accepted = acceptedOf(setup)
  const errors = setup.answers.slice(0, accepted).filter((answer) => answer === "ServerError").length
  return 1 + errors + (setup.answers[accepted] === "lost" ? 1 : 0)
}

const isGone = (setup: Setup): boolean => !setup.isThere || setup.answers[acceptedOf(setup)] === "NotFound"

describe("the sync of a node or pod", () => {
  checkProperty("a node finally has the right taints and labels, and keeps other ones", setups, (setup) =>
    Effect.gen(function* () {
      const { node, deps, sent } = fixture(setup)
      const count = yield* runAll(NoSchedule.node(deps)("n"))
      const after = node()
      if (after === undefined) return count === runsOf(setup) && isGone(setup)
      const { labels } = after.metadata
      return (
        count === runsOf(setup) &&
        taintsOf(after) === wanted(setup.node) &&
        (setup.node.os === "" || labels?.["beta.kubernetes.io/os"] === setup.node.os) &&
        sent.every((body) => JSON.stringify(body).includes('"resourceVersion":"7"'))
      )
    })
  )

  it.effect("a node that the cache shows late is read from the server after a conflict, and written once", () =>
    Effect.gen(function* () {
      const facts = { ready: "False", isCordoned: false, taints: [], isMine: false, os: "", oldOs: "" } as const
      const stale = nodeOf(facts)
      const live = nodeOf({ ...facts, isMine: true })
      const sent: Array<string> = []
      const deps = {
        nodes: { get: () => stale },
        live: () => Effect.succeed({ ...live, metadata: { ...live.metadata, resourceVersion: "8" } }),
        patch: (_: string, { body }: Patch.Patch) => {
          const { metadata, spec } = body as {
            readonly metadata: { readonly resourceVersion: string }
            spec: Node["spec"]
          }
          const keys = spec?.taints?.map(({ key }) => key) ?? []
          sent.push(`${metadata.resourceVersion} ${keys.join(" ")}`)
          return metadata.resourceVersion === "8"
            ? Effect.succeed(live)
            : Effect.fail(ApiError.fromStatus({ context: { verb: "patch", path: "/" }, status: 409, body: "Conflict" }))
        }
      } as unknown as Deps
      assert.strictEqual(yield* runAll(NoSchedule.node(deps)("n")), 1)
      assert.deepStrictEqual(sent, [
        "7 node.kubernetes.io/not-ready",
        "8 example.com/mine node.kubernetes.io/not-ready"
      ])
    })
  )

  checkProperty("a correct node causes no write", setups, (setup) =>
    Effect.gen(function* () {
      const { deps, sent } = fixture({ ...setup, answers: [] })
      yield* runAll(NoSchedule.node(deps)("n"))
      const isIdle = !setup.isThere || isCorrect(setup.node)
      return sent.length === (isIdle ? 0 : 1)
    })
  )

  checkProperty("what is written is only what changes", setups, (setup) =>
    Effect.gen(function* () {
      const { deps, sent } = fixture({ ...setup, answers: [] })
      yield* runAll(NoSchedule.node(deps)("n"))
      const [body] = sent as ReadonlyArray<{ readonly metadata: object; readonly spec?: object }>
      if (body === undefined) return true
      const hasTaints = taintsOf(nodeOf(setup.node)) !== wanted(setup.node)
      const hasLabels = setup.node.os !== "" && setup.node.oldOs !== setup.node.os
      return (body.spec !== undefined) === hasTaints && "labels" in body.metadata === hasLabels
    })
  )

  checkProperty("a pod on a node that is not ready has Ready False in the end, with one event", setups, (setup) =>
    Effect.gen(function* () {
      const { pod, deps, recorded } = fixture(setup)
      const count = yield* runAll(NoSchedule.pod(deps, checking(setup.checked))("ns/p"))
      if (pod() === undefined) return count < 20 && (!setup.isThere || setup.answers.includes("NotFound"))
      const isReady = pod()?.status?.conditions?.[0]?.status === "True"
      const isMarked = setup.isReady && isDown(setup.checked)
      return count < 20 && isReady === (setup.isReady && !isMarked) && recorded() <= (isMarked ? 1 : 0)
    })
  )

  checkProperty("the event is recorded when no write fails", setups, (setup) =>
    Effect.gen(function* () {
      const { deps, recorded } = fixture({ ...setup, answers: [] })
      const count = yield* runAll(NoSchedule.pod(deps, checking(setup.checked))("ns/p"))
      return count === 1 && recorded() === (setup.isThere && setup.isReady && isDown(setup.checked) ? 1 : 0)
    })
  )
})
