/** The exact requests of the garbage collector, and its handling of failures. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as GarbageCollector from "../../../src/controllers/GarbageCollector.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { ApiServer } from "../../../src/apiserver/ApiServer.ts"
import type { Rule } from "../../../src/apiserver/faults.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Request } from "../../../src/layers/Transport.ts"
import { all, blocking, make, to } from "./objects.ts"

const collector = GarbageCollector.make()
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

const remove = (name: string, propagationPolicy: "Background" | "Foreground" | "Orphan") =>
  Effect.flatMap(KubeClient, (client) =>
    client.delete(ConfigMap, { name, namespace: "default" }, { propagationPolicy })
  )

const label = (name: string, value: string) =>
  Effect.flatMap(KubeClient, (client) =>
    client.patch(ConfigMap, { name, namespace: "default" }, Patch.merge({ metadata: { labels: { value } } }))
  )

const current = (name: string) =>
  Effect.flatMap(KubeClient, (client) => client.get(ConfigMap, { name, namespace: "default" }))

describe("the requests of the garbage collector", () => {
  it.effect("a deletion has uid and resourceVersion as preconditions", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [to(a)] })
      yield* cluster.settle
      yield* remove("a", "Background")
      const sent = yield* recorded()
      yield* cluster.settle
      const { resourceVersion, uid } = b.metadata
      assert.deepStrictEqual(shown(sent), [["DELETE b", deleteBody("Background", { uid, resourceVersion })]])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("a foreground deletion: dependents in the foreground if they have some, then the finalizer", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      const c = yield* make("c", { owners: [blocking(b)] })
      yield* cluster.settle
      yield* remove("a", "Foreground")
      const waiting = yield* current("a")
      const sent = yield* recorded()
      yield* cluster.settle
      const finalizers = (resourceVersion: string | undefined) => ({ metadata: { resourceVersion, finalizers: [] } })
      const requests = shown(sent)
      const version = (requests[2]?.[2] as ReturnType<typeof finalizers> | undefined)?.metadata.resourceVersion
      assert.deepStrictEqual(requests, [
        ["DELETE b", deleteBody("Foreground", { uid: b.metadata.uid, resourceVersion: b.metadata.resourceVersion })],
        ["DELETE c", deleteBody("Background", { uid: c.metadata.uid, resourceVersion: c.metadata.resourceVersion })],
        ["PATCH b", merge, finalizers(version)],
        ["PATCH a", merge, finalizers(waiting.metadata.resourceVersion)]
      ])
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("orphaning: each dependent by its uid, then the finalizer", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [to(a)] })
      yield* cluster.settle
      yield* remove("a", "Orphan")
      const { resourceVersion } = (yield* current("a")).metadata
      const sent = yield* recorded()
      yield* cluster.settle
      const ownerReferences = [{ $patch: "delete", uid: a.metadata.uid }]
      assert.deepStrictEqual(shown(sent), [
        ["PATCH b", strategic, { metadata: { uid: b.metadata.uid, ownerReferences } }],
        ["PATCH a", merge, { metadata: { resourceVersion, finalizers: [] } }]
      ])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("in a cycle, the object that is found is unblocked before it is deleted", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      const ownerReferences = [blocking(b)]
      yield* (yield* KubeClient).patch(
        ConfigMap,
        { name: "a", namespace: "default" },
        Patch.merge({ metadata: { ownerReferences } })
      )
      yield* cluster.settle
      yield* remove("a", "Foreground")
      const sent = yield* recorded()
      yield* cluster.settle
      const [unblock, deletion] = shown(sent)
      const { uid } = b.metadata
      const unblocked = [{ ...to(a), blockOwnerDeletion: false }]
      assert.deepStrictEqual(unblock, ["PATCH b", strategic, { metadata: { uid, ownerReferences: unblocked } }])
      const { preconditions, propagationPolicy } = deletion?.[1] as ReturnType<typeof deleteBody>
      assert.strictEqual(propagationPolicy, "Foreground")
      // At the resourceVersion after the patch.
      const { resourceVersion } = preconditions as { readonly resourceVersion: string }
      assert.isAbove(Number(resourceVersion), Number(b.metadata.resourceVersion))
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
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

describe("failures", () => {
  it.effect("an object that has changed, but not its owners, is deleted as it is now", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [to(a)] })
      yield* cluster.settle
      yield* remove("a", "Background")
      const sent = yield* recorded([
        { match: { verb: "delete", resource: "configmaps" }, fault: { _tag: "Delay", millis: 1000 }, times: 1 }
      ])
      yield* cluster.settle
      yield* label("b", "changed")
      sent.length = 0
      yield* cluster.advance("1 second")
      assert.deepStrictEqual(shown(sent), [["DELETE b", deleteBody("Background", { uid: b.metadata.uid })]])
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("an object that has a new owner meanwhile is judged again", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const saviour = yield* make("saviour")
      yield* make("b", { owners: [to(a)] })
      yield* cluster.settle
      yield* remove("a", "Background")
      yield* recorded([
        { match: { verb: "delete", resource: "configmaps" }, fault: { _tag: "Delay", millis: 1000 }, times: 1 }
      ])
      yield* cluster.settle
      const ownerReferences = [to(a), to(saviour)]
      yield* (yield* KubeClient).patch(
        ConfigMap,
        { name: "b", namespace: "default" },
        Patch.merge({ metadata: { ownerReferences } })
      )
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, ["b < saviour", "saviour"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("conflicts and server errors are retried until they end", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      const b = yield* make("b", { owners: [blocking(a)] })
      yield* make("c", { owners: [blocking(b)] })
      yield* cluster.settle
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
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, [])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )

  it.effect("an owner that cannot be read is not absent", () =>
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

  it.effect("a kind without strategic merge patch gets whole lists, at one resourceVersion", () =>
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

  it.effect("dependents that cannot be orphaned keep the owner, until they can", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      yield* cluster.run(collector)
      const a = yield* make("a")
      yield* make("b", { owners: [to(a)] })
      yield* make("c", { owners: [to(a)] })
      yield* cluster.settle
      yield* recorded([
        {
          match: { verb: "patch", resource: "configmaps", path: "/api/v1/namespaces/default/configmaps/b" },
          fault: { _tag: "Status", code: 403 }
        }
      ])
      yield* remove("a", "Orphan")
      yield* cluster.advance("1 minute")
      assert.deepStrictEqual(yield* all, ["a!", "b < a", "c"])
      yield* recorded()
      yield* cluster.advance("2 minutes")
      assert.deepStrictEqual(yield* all, ["b", "c"])
    }).pipe(Effect.provide(ClusterTest.layer()))
  )
})
