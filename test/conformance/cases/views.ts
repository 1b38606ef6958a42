/** Views: metadata alone and tables, on get, list and watch. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { KubeList, KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
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

export const views: ReadonlyArray<Case> = [
  {
    title: "metadata alone: get and list leave out everything else and name the real kind",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { client, namespace } = subject
      yield* letters(subject, 2)
      const Partial = Resource.metadataOnly(ConfigMap)
      const one = yield* client.get(Partial, { namespace, name: "x-a" })
      assert.deepStrictEqual(Object.keys(one).sort(), ["apiVersion", "kind", "metadata"])
      assert.deepStrictEqual([one.apiVersion, one.kind], ["v1", "ConfigMap"])
      const full = yield* client.get(ConfigMap, { namespace, name: "x-a" })
      assert.deepStrictEqual(one.metadata, full.metadata)
      const list = yield* client.list(Partial, { namespace, labelSelector: mine, limit: 1 })
      assert.deepStrictEqual(names(list), ["x-a", "x-b"])
      for (const item of list.items)
        assert.deepStrictEqual(Object.keys(item).sort(), ["apiVersion", "kind", "metadata"])
    })
  }
]
