/** The requests of one attempt, by the state of the graph and of the server. Upstream: garbagecollector.go, attemptToDeleteItem. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as AttemptToDelete from "../../../src/controllers/garbagecollector/attemptToDelete.ts"
import * as Graph from "../../../src/controllers/garbagecollector/graph.ts"
import * as Identity from "../../../src/controllers/garbagecollector/identity.ts"
import type { Objects } from "../../../src/controllers/garbagecollector/objects.ts"
import type { KubeObject, OwnerReference } from "../../../src/kube/Meta.ts"

const to = (uid: string, blockOwnerDeletion = false): OwnerReference => ({
  apiVersion: "v1",
  kind: uid.startsWith("node") ? "Node" : "Thing",
  name: uid,
  uid,
  blockOwnerDeletion
})

const object = (
  uid: string,
  ownerReferences: ReadonlyArray<OwnerReference> = [],
  deleting?: ReadonlyArray<string>
): KubeObject => ({
  metadata: {
    name: uid,
    uid,
    namespace: "red",
    resourceVersion: "1",
    ownerReferences,
    ...(deleting === undefined ? {} : { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: deleting })
  }
})

const foreground = ["foregroundDeletion"]

/** Attempts the object `a`; the graph has observed `seen`, and the server stores `stored` and answers `answer` to writes. */
const attempt = Effect.fnUntraced(function* (
  seen: ReadonlyArray<KubeObject>,
  stored: ReadonlyArray<KubeObject> = seen,
  answer: "done" | "absent" = "done"
) {
  const requests: Array<string> = []
  const graph = Graph.make()
  const identify = (one: KubeObject) => Identity.of("v1", "Thing", one)
  graph.apply(seen.map((one) => ({ _tag: "Observed", identity: identify(one), metadata: one.metadata })))
  const request = (line: string) => Effect.sync(() => void requests.push(line))
  const objects: Objects = {
    find: ({ kind, namespace, uid }) =>
      Effect.as(request(`get ${namespace}/${uid}`), {
        clusterScoped: kind === "Node",
        object: stored.find(({ metadata }) => metadata.uid === uid)
      }),
    patch: ({ uid }, { strategic }) =>
      Effect.as(
        request(`patch ${uid} ${JSON.stringify(strategic.body)}`),
        answer === "absent" ? answer : object(`${uid} patched`)
      ),
    remove: ({ uid }, judged, propagation) =>
      Effect.as(request(`delete ${uid} judged as ${judged.metadata.uid}: ${propagation}`), answer),
    removeUnchanged: ({ uid }, judged, propagation) => {
      const now = stored.find(({ metadata }) => metadata.uid === uid)?.metadata
      const isChanged = now !== undefined && now.resourceVersion !== judged.metadata.resourceVersion
      return Effect.as(
        request(`delete ${uid} if unchanged: ${propagation}`),
        now === undefined ? "absent" : isChanged ? "changed" : answer
      )
    },
    removeFinalizer: ({ uid }, finalizer) => request(`remove ${finalizer} from ${uid}`)
  }
  const absentOwners = AttemptToDelete.absentOwners(9)
  const attempted = AttemptToDelete.attempt({
    graph,
    absentOwners,
    objects,
    processEvent: (event) => {
      if (event._tag !== "Absent") return
      const { namespace, uid } = event.identity
      requests.push(`absent ${namespace}/${uid}${event.clusterScoped ? ", cluster-scoped" : ""}`)
    },
    examine: (uids) => void requests.push(`examine ${uids.join()}`)
  })
  const run = (uid: string) => {
    requests.length = 0
    const node = graph.get(uid)
    return node === undefined ? Effect.succeed(requests) : Effect.as(attempted(node), requests)
  }
  return { a: yield* run("a"), absentOwners, run }
})

const strip = (...uids: ReadonlyArray<string>) =>
  `patch a ${JSON.stringify({ metadata: { uid: "a", ownerReferences: uids.map((uid) => ({ $patch: "delete", uid })) } })}`

describe("an attempt to delete", () => {
  it.effect("sends nothing for an object whose deletion is under way, unless it waits for its dependents", () =>
    Effect.gen(function* () {
      for (const finalizers of [[], ["a.b/c"], ["orphan"], ["orphan", ...foreground]])
        assert.deepStrictEqual((yield* attempt([object("a", [to("gone")], finalizers)])).a, [])
      const unseen = yield* attempt([object("a", [to("gone")])], [object("a", [to("gone")], ["a.b/c"])])
      assert.deepStrictEqual(unseen.a, ["get red/a"])
    })
  )

  it.effect("reports an object that the server does not have as absent, with the scope of its kind", () =>
    Effect.gen(function* () {
      const { a } = yield* attempt([object("a", [to("gone")])], [])
      assert.deepStrictEqual(a, ["get red/a", "absent red/a"])
      const { run } = yield* attempt([object("a", [to("node")])], [])
      assert.deepStrictEqual(yield* run("node"), ["get red/node", "absent red/node, cluster-scoped"])
    })
  )

  it.effect("removes the foreground finalizer once no dependent blocks, and until then examines those that do", () =>
    Effect.gen(function* () {
      const a = object("a", [], foreground)
      const finished = ["get red/a", "remove foregroundDeletion from a"]
      assert.deepStrictEqual((yield* attempt([a])).a, finished)
      assert.deepStrictEqual((yield* attempt([a, object("b", [to("a")])])).a, finished)
      const blocked = [
        a,
        object("b", [to("a", true)]),
        object("c", [to("a", true)], foreground),
        object("d", [to("a")])
      ]
      assert.deepStrictEqual((yield* attempt(blocked)).a, ["get red/a", "examine b"])
    })
  )

  it.effect("writes nothing for an object without owners, or with only owners that exist", () =>
    Effect.gen(function* () {
      const bare: KubeObject = { metadata: { name: "a", uid: "a", namespace: "red" } }
      assert.deepStrictEqual((yield* attempt([bare])).a, ["get red/a"])
      const owned = yield* attempt([object("a", [to("b"), to("c")]), object("b"), object("c", [], ["a.b/c"])])
      assert.deepStrictEqual(owned.a, ["get red/a", "get red/b", "get red/c"])
    })
  )

  it.effect("strips the references to owners that are absent or wait for dependents, while another owner exists", () =>
    Effect.gen(function* () {
      const seen = [object("a", [to("b"), to("gone"), to("c")]), object("b"), object("c", [], foreground)]
      const { a } = yield* attempt(seen)
      assert.deepStrictEqual(a, ["get red/a", "get red/b", "get red/gone", "get red/c", strip("gone", "c")])
      assert.deepStrictEqual((yield* attempt(seen, seen, "absent")).a.slice(-2), [strip("gone", "c"), "absent red/a"])
    })
  )

  it.effect("deletes an object without an owner left, as it was read", () =>
    Effect.gen(function* () {
      const seen = [object("a", [to("gone")])]
      const removed = ["get red/a", "get red/gone", "delete a judged as a: Background"]
      assert.deepStrictEqual((yield* attempt(seen)).a, removed)
      assert.deepStrictEqual((yield* attempt(seen, seen, "absent")).a, [...removed, "absent red/a"])
    })
  )

  it.effect("unblocks an object in a possible cycle before it deletes it, in the state after the patch", () =>
    Effect.gen(function* () {
      const seen = [object("a", [to("b", true)]), object("b", [], foreground), object("c", [to("a", true)], foreground)]
      const { a } = yield* attempt(seen)
      const unblock = { metadata: { uid: "a", ownerReferences: [to("b")] } }
      const patched = ["get red/a", "get red/b", `patch a ${JSON.stringify(unblock)}`]
      assert.deepStrictEqual(a, [...patched, "delete a judged as a patched: Foreground"])
      assert.deepStrictEqual((yield* attempt(seen, seen, "absent")).a, [...patched, "absent red/a"])
    })
  )

  it.effect("reads an absent owner once, in the namespace of the dependent or for all namespaces", () =>
    Effect.gen(function* () {
      for (const owner of ["gone", "node"]) {
        const { a, absentOwners, run } = yield* attempt([object("a", [to(owner)])])
        assert.include(a, `get red/${owner}`)
        const [near, global] = ["red", ""].map((namespace) => absentOwners.has(Identity.named(to(owner), namespace)))
        assert.deepStrictEqual([near, global], owner === "node" ? [false, true] : [true, false])
        assert.deepStrictEqual(yield* run("a"), ["delete a if unchanged: Background"])
      }
    })
  )

  it.effect(
    "reads an object with owners that are known to be absent only if it has changed since it was observed",
    () =>
      Effect.gen(function* () {
        const changed = (change: Partial<KubeObject["metadata"]>): ReadonlyArray<KubeObject> => [
          { metadata: { ...object("a", [to("gone")]).metadata, resourceVersion: "2", ...change } }
        ]
        const second = (stored: ReadonlyArray<KubeObject>, finalizers: ReadonlyArray<string> = []) =>
          Effect.gen(function* () {
            const seen: KubeObject = { metadata: { ...object("a", [to("gone")]).metadata, finalizers } }
            const { absentOwners, run } = yield* attempt([seen], stored)
            absentOwners.add(Identity.named(to("gone"), "red"))
            return yield* run("a")
          })
        const first = "delete a if unchanged: Background"
        const reread = [first, "get red/a"]
        assert.deepStrictEqual(yield* second(changed({ ownerReferences: [] })), reread)
        assert.deepStrictEqual(yield* second(changed({ deletionTimestamp: "2026-01-01T00:00:00Z" })), reread)
        assert.deepStrictEqual(yield* second(changed({ finalizers: ["orphan"] })), [
          ...reread,
          "delete a judged as a: Orphan"
        ])
        assert.deepStrictEqual(yield* second([]), [first, "absent red/a"])
        // The propagation of an earlier deletion that the graph has observed is kept.
        assert.deepStrictEqual(yield* second(changed({ resourceVersion: "1" }), ["a.b/c"]), [first])
      })
  )
})
