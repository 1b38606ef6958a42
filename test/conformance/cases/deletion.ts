/** Deletion: grace, finalizers, propagation, collections. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as ApiError from "../../../src/kube/ApiError.ts"
import type { KubeList, KubeObject } from "../../../src/kube/Meta.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import { type Case, configMap, type Subject } from "../Case.ts"

const names = (list: KubeList<KubeObject>): ReadonlyArray<string> => list.items.map((item) => item.metadata.name)

/** Config maps `a`, `b`, … labelled with their letter, and even ones with `even`. */
const letters = Effect.fnUntraced(function* ({ client, namespace }: Subject, count: number) {
  for (let i = 0; i < count; i++) {
    const letter = String.fromCharCode(97 + i)
    const labels = i % 2 === 0 ? { letter, even: "" } : { letter }
    yield* client.create(ConfigMap, configMap(`x-${letter}`, { letter }, labels), { namespace })
  }
})

/** A real server puts objects of its own (a root CA) into namespaces. */
const mine = "letter"

const reason = <A>(call: Effect.Effect<A, ApiError.ApiError>) => Effect.map(Effect.flip(call), (e) => e.reason._tag)

export const deletion: ReadonlyArray<Case> = [
  {
    title: "deletecollection deletes what is selected",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* letters(subject, 4)
      yield* client.deleteCollection(ConfigMap, { namespace, labelSelector: "even" })
      assert.deepStrictEqual(names(yield* client.list(ConfigMap, { namespace, labelSelector: mine })), ["x-b", "x-d"])
    })
  },
  {
    title: "delete removes; a second delete is NotFound",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      yield* client.create(ConfigMap, configMap("a"), { namespace })
      const answer = yield* client.delete(ConfigMap, { namespace, name: "a" })
      assert.strictEqual(answer.kind, "Status")
      assert.strictEqual(yield* reason(client.get(ConfigMap, { namespace, name: "a" })), "NotFound")
      assert.strictEqual(yield* reason(client.delete(ConfigMap, { namespace, name: "a" })), "NotFound")
    })
  },
  {
    title: "delete preconditions on uid and version are a Conflict when they do not hold",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      const { metadata } = yield* client.create(ConfigMap, configMap("a"), { namespace })
      const uid = "00000000-0000-0000-0000-000000000000"
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, { preconditions: { uid } })), "Conflict")
      const stale = { preconditions: { resourceVersion: "1" } }
      assert.strictEqual(yield* reason(client.delete(ConfigMap, target, stale)), "Conflict")
      yield* client.delete(ConfigMap, target, {
        preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
      })
    })
  },
  {
    title: "finalizers keep a deleted object until the last one is gone",
    since: 20,
    run: Effect.fnUntraced(function* ({ client, namespace }) {
      const target = { namespace, name: "a" }
      yield* client.create(ConfigMap, { metadata: { name: "a", finalizers: ["test.example/hold"] } }, { namespace })
      const marked = yield* client.delete(ConfigMap, target)
      assert.strictEqual(marked.kind, "ConfigMap")
      const held = yield* client.get(ConfigMap, target)
      assert.isDefined(held.metadata.deletionTimestamp)
      yield* client.update(ConfigMap, { ...held, metadata: { ...held.metadata, finalizers: [] } })
      assert.strictEqual(yield* reason(client.get(ConfigMap, target)), "NotFound")
    })
  }
]
