/** The output of `crds` for controllers with custom kinds, on the embedded API server. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"
import { diffKinds, installKinds, printKinds } from "../../../src/cli/commands/crds.ts"
import * as Crd from "../../../src/kube/crd/Crd.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { KubeClient } from "../../../src/layers/KubeClient.ts"
import type { Host } from "../../../src/manager/process/Host.ts"
import { Memcached } from "../../kube/crd/fixtures.ts"
import { layer } from "../../support/cluster.ts"
import * as Process from "../../support/process.ts"

/** A host that records its output. */
const listening = () => {
  const said: Array<string> = []
  const stdout = { write: (text: string) => said.push(text) }
  return { host: { stdout } as unknown as Host, said: () => said.join("") }
}

/** The same kind, with fewer servers allowed. */
const Smaller = Resource.make({ ...Memcached.declaration, spec: Schema.Struct({ size: Schema.Literals([1, 2]) }) })

const expected = JSON.parse(JSON.stringify(Result.getOrThrow(Crd.make(Memcached)))) as unknown

describe("crds", () => {
  it.effect("prints what can be applied", () =>
    Effect.gen(function* () {
      const { host, said } = listening()
      yield* printKinds(host, Option.none(), [Memcached, Smaller])
      const [first, second] = parseAllDocuments(said()).map((one): unknown => one.toJS())
      assert.deepStrictEqual(first, expected)
      assert.notDeepEqual(second, expected)
    })
  )

  it.effect("writes a file for each definition", () =>
    Effect.gen(function* () {
      const directory = join(yield* Process.folder, "crds")
      const { host, said } = listening()
      yield* printKinds(host, Option.some(directory), [Memcached])
      assert.deepStrictEqual(readdirSync(directory), ["memcacheds.cache.example.com.yaml"])
      const file = join(directory, "memcacheds.cache.example.com.yaml")
      assert.strictEqual(said(), `${file}\n`)
      assert.deepStrictEqual(
        parseAllDocuments(readFileSync(file, "utf8")).map((one): unknown => one.toJS()),
        [expected]
      )
    })
  )

  it.effect("installs, then finds no difference", () =>
    Effect.gen(function* () {
      const { host, said } = listening()
      yield* installKinds(host, [Memcached])
      yield* diffKinds(host, [Memcached])
      assert.strictEqual(said(), "memcacheds.cache.example.com created\nmemcacheds.cache.example.com is the same\n")
    }).pipe(Effect.provide(layer))
  )

  it.effect("diff prints what would change and which objects would be affected, and fails with one sentence", () =>
    Effect.gen(function* () {
      const { host, said } = listening()
      const client = yield* KubeClient
      yield* installKinds(host, [Memcached])
      yield* client.create(
        Memcached,
        { metadata: { name: "big" }, spec: { size: 3, containerPort: 1 } },
        { namespace: "default" }
      )
      const failure = yield* Effect.flip(diffKinds(host, [Smaller]))
      assert.strictEqual(
        failure.message,
        "1 of 1 definitions differ from what is in the cluster, 1 stored objects would suffer"
      )
      assert.include(said(), "! default/big would be refused: spec.size: Unsupported value: 3")
      assert.include(said(), "! default/big would lose spec.containerPort")
    }).pipe(Effect.provide(layer))
  )

  it.effect("print, install and diff have a value with stable names", () =>
    Effect.gen(function* () {
      const json = Option.some("json" as const)
      const parsed = (said: string): unknown => JSON.parse(said)
      const [printed, created, compared] = [listening(), listening(), listening()]
      yield* printKinds(printed.host, Option.none(), [Memcached], json)
      assert.deepStrictEqual(parsed(printed.said()), {
        apiVersion: "v1",
        kind: "List",
        metadata: {},
        items: [expected]
      })
      yield* Effect.flip(diffKinds(compared.host, [Memcached], json))
      yield* installKinds(created.host, [Memcached], json)
      const name = "memcacheds.cache.example.com"
      assert.deepStrictEqual(parsed(created.said()), { definitions: [{ name, outcome: "created" }] })
      assert.deepStrictEqual(parsed(compared.said()), {
        definitions: [{ name, state: "new", differences: [], objects: [] }]
      })

      const different = listening()
      yield* (yield* KubeClient).create(
        Memcached,
        { metadata: { name: "big" }, spec: { size: 3, containerPort: 1 } },
        { namespace: "default" }
      )
      yield* Effect.flip(diffKinds(different.host, [Smaller], json))
      const { definitions } = parsed(different.said()) as { definitions: ReadonlyArray<Record<string, unknown>> }
      assert.nestedInclude(definitions[0], { name, state: "different", "objects[0].object": "default/big" })
      assert.deepNestedInclude(definitions[0], { "objects[0].dropped": ["spec.containerPort"] })
      for (const one of definitions[0]?.["differences"] as ReadonlyArray<object>) {
        assert.hasAllKeys(one, ["path", "from", "to"])
      }
    }).pipe(Effect.provide(layer))
  )
})
