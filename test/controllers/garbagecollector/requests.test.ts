/** The exact requests of the garbage collector, and its handling of failures. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { advance } from "../../support/cluster.ts"
import { all, blocking, collector, make, makeChain, remove, setOwners, settle, to, withCollector } from "./harness.ts"

const writes = ["patch", "delete", "update", "create"]

/** Records writes to ConfigMaps from now on; some may fail. */
const recorded = Effect.fnUntraced(function* (faults: ReadonlyArray<Rule> = []) {
  const sent: Array<Request> = []
  const record: Rule = {
    match: (request) => {
      if (request.context.resource === "configmaps" && writes.includes(request.context.verb)) sent.push(request)
      return false
    },
    fault: { _tag: "Drop" }
  }
  yield* (yield* ApiServer).setFaults([record, ...faults])
  return sent
})

const shown = (sent: ReadonlyArray<Request>) =>
  sent.map(({ body, contentType, method, path }) => [
    `${method} ${path.split("/").at(-1)}`,
    ...(contentType === undefined ? [] : [contentType]),
    body
  ])

const deleteBody = (propagationPolicy: string, preconditions: object) => ({
  apiVersion: "v1",
  kind: "DeleteOptions",
  gracePeriodSeconds: undefined,
  dryRun: undefined,
  propagationPolicy,
  preconditions
})

const strategic = "application/strategic-merge-patch+json"
const merge = "application/merge-patch+json"

const label = (name: string, value: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(ConfigMap, { name, namespace: "default" }, Patch.merge({ metadata: { labels: { value } } }))
  )

const current = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.get(ConfigMap, { name, namespace: "default" }))

describe("the requests of the garbage collector", () => {
  it.effect("a deletion has uid and resourceVersion as preconditions", () =>
    withCollector(
      Effect.gen(function* () {
        const [, b] = yield* makeChain(to, "a", "b")
        yield* remove("a", "Background")
        const sent = yield* recorded()
        yield* settle
        const { resourceVersion, uid } = b.metadata
        assert.deepStrictEqual(shown(sent), [["DELETE b", deleteBody("Background", { uid, resourceVersion })]])
      })
    )
  )

  it.effect(
    "a foreground deletion deletes dependents first, those with dependents in the foreground, then removes the finalizer",
    () =>
      withCollector(
        Effect.gen(function* () {
          const [, b, c] = yield* makeChain(blocking, "a", "b", "c")
          yield* remove("a", "Foreground")
          const waiting = yield* current("a")
          const sent = yield* recorded()
          yield* settle
          const finalizers = (resourceVersion: string | undefined) => ({
            metadata: { resourceVersion, finalizers: [] }
          })
          const requests = shown(sent)
          const version = (requests[2]?.[2] as ReturnType<typeof finalizers> | undefined)?.metadata.resourceVersion
          assert.deepStrictEqual(requests, [
            [
              "DELETE b",
              deleteBody("Foreground", { uid: b.metadata.uid, resourceVersion: b.metadata.resourceVersion })
            ],
            [
              "DELETE c",
              deleteBody("Background", { uid: c.metadata.uid, resourceVersion: c.metadata.resourceVersion })
            ],
            ["PATCH b", merge, finalizers(version)],
            ["PATCH a", merge, finalizers(waiting.metadata.resourceVersion)]
          ])
          assert.deepStrictEqual(yield* all, [])
        })
      )
  )

  it.effect("orphaning patches each dependent with its uid as precondition, then removes the finalizer", () =>
    withCollector(
      Effect.gen(function* () {
        const [a, b] = yield* makeChain(to, "a", "b")
        yield* remove("a", "Orphan")
        const { resourceVersion } = (yield* current("a")).metadata
        const sent = yield* recorded()
        yield* settle
        const ownerReferences = [{ $patch: "delete", uid: a.metadata.uid }]
        assert.deepStrictEqual(shown(sent), [
          ["PATCH b", strategic, { metadata: { uid: b.metadata.uid, ownerReferences } }],
          ["PATCH a", merge, { metadata: { resourceVersion, finalizers: [] } }]
        ])
      })
    )
  )

  it.effect("in a cycle, an object gets blockOwnerDeletion set to false before it is deleted", () =>
    withCollector(
      Effect.gen(function* () {
        const [a, b] = yield* makeChain(blocking, "a", "b")
        yield* setOwners("a", blocking(b))
        yield* settle
        yield* remove("a", "Foreground")
        const sent = yield* recorded()
        yield* settle
        const [unblock, deletion] = shown(sent)
        const { uid } = b.metadata
        const unblocked = [{ ...to(a), blockOwnerDeletion: false }]
        assert.deepStrictEqual(unblock, ["PATCH b", strategic, { metadata: { uid, ownerReferences: unblocked } }])
        const { preconditions, propagationPolicy } = deletion?.[1] as ReturnType<typeof deleteBody>
        assert.strictEqual(propagationPolicy, "Foreground")
        // The resourceVersion is that of the patched object.
        const { resourceVersion } = preconditions as { readonly resourceVersion: string }
        assert.isAbove(Number(resourceVersion), Number(b.metadata.resourceVersion))
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )

  it.effect("nothing is written while nothing changes", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const a = yield* make("a")
      yield* make("b", { owners: [blocking(a)] })
      const sent = yield* recorded()
      yield* cluster.run(collector)
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(shown(sent), [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})

describe("conflicts and failures", () => {
  it.effect(
    "an object that has changed since it was read, but not in its owners, is deleted without a resourceVersion",
    () =>
      withCollector(
        Effect.gen(function* () {
          const [, b] = yield* makeChain(to, "a", "b")
          yield* remove("a", "Background")
          const sent = yield* recorded([
            { match: { verb: "delete", resource: "configmaps" }, fault: { _tag: "Delay", millis: 1000 }, times: 2 }
          ])
          yield* settle
          // First it has changed since it was observed, and then since it was read.
          const { uid } = b.metadata
          const { resourceVersion } = (yield* label("b", "changed")).metadata
          sent.length = 0
          yield* advance("1 second")
          assert.deepStrictEqual(shown(sent), [["DELETE b", deleteBody("Background", { uid, resourceVersion })]])
          yield* label("b", "again")
          sent.length = 0
          yield* advance("1 second")
          assert.deepStrictEqual(shown(sent), [["DELETE b", deleteBody("Background", { uid })]])
          assert.deepStrictEqual(yield* all, [])
        })
      )
  )

  it.effect("an object that has got a new owner since it was read is processed again", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        const other = yield* make("other")
        yield* make("b", { owners: [to(a)] })
        yield* settle
        yield* remove("a", "Background")
        yield* recorded([
          { match: { verb: "delete", resource: "configmaps" }, fault: { _tag: "Delay", millis: 1000 }, times: 1 }
        ])
        yield* settle
        yield* setOwners("b", to(a), to(other))
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* all, ["b < other", "other"])
      })
    )
  )

  it.effect("conflicts and server errors are retried until the requests succeed", () =>
    withCollector(
      Effect.gen(function* () {
        yield* makeChain(blocking, "a", "b", "c")
        yield* recorded([
          {
            match: { verb: "delete", resource: "configmaps", path: "/api/v1/namespaces/default/configmaps/b" },
            fault: { _tag: "Conflict" },
            times: 2
          },
          {
            match: { verb: "delete", resource: "configmaps", path: "/api/v1/namespaces/default/configmaps/c" },
            fault: { _tag: "Status", code: 500 },
            times: 9
          },
          { match: { verb: "patch", resource: "configmaps" }, fault: { _tag: "Conflict" }, times: 7 }
        ])
        yield* remove("a", "Foreground")
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* all, [])
      })
    )
  )

  it.effect("an owner that cannot be read does not count as absent", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      const a = yield* make("a")
      yield* make("b", { owners: [to(a), to(a, { name: "other", uid: "no-such-uid" })] })
      yield* make("c", { owners: [to(a, { name: "other", uid: "no-such-uid" })] })
      yield* recorded(
        ([403, 500, 503, 429] as const).map((code) => ({
          match: { verb: "get", resource: "configmaps" },
          fault: { _tag: "Status", code },
          times: 5
        }))
      )
      yield* cluster.run(collector)
      yield* cluster.settle
      assert.deepStrictEqual(yield* all, ["a", "b < a < other", "c < other"])
      yield* cluster.advance("10 minutes")
      assert.deepStrictEqual(yield* all, ["a", "b < a"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect(
    "a kind without strategic merge patch gets a JSON merge patch with the whole list and the resourceVersion",
    () =>
      Effect.gen(function* () {
        const cluster = yield* ClusterTest
        const unknown: Rule = {
          match: ({ contentType }) => contentType === strategic,
          fault: { _tag: "Status", code: 415 }
        }
        yield* cluster.run(collector)
        const [a, b] = [yield* make("a"), yield* make("b")]
        yield* make("c", { owners: [blocking(a), to(b)] })
        yield* cluster.settle
        yield* remove("a", "Orphan")
        const { resourceVersion } = (yield* current("c")).metadata
        const sent = yield* recorded([unknown])
        yield* cluster.settle
        assert.deepStrictEqual(shown(sent).filter(([what]) => what === "PATCH c")[1], [
          "PATCH c",
          merge,
          { metadata: { resourceVersion, ownerReferences: [to(b)] } }
        ])
        assert.deepStrictEqual(yield* all, ["b", "c < b"])
      }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("the owner keeps its orphan finalizer until all dependents are orphaned", () =>
    withCollector(
      Effect.gen(function* () {
        const a = yield* make("a")
        yield* make("b", { owners: [to(a)] })
        yield* make("c", { owners: [to(a)] })
        yield* settle
        yield* recorded([
          {
            match: { verb: "patch", resource: "configmaps", path: "/api/v1/namespaces/default/configmaps/b" },
            fault: { _tag: "Status", code: 403 }
          }
        ])
        yield* remove("a", "Orphan")
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* all, ["a!", "b < a", "c"])
        yield* recorded()
        yield* advance("2 minutes")
        assert.deepStrictEqual(yield* all, ["b", "c"])
      })
    )
  )
})
