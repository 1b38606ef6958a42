/** CustomResourceDefinitions that a server installs at start. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Resource from "../../../src/kube/Resource.ts"
import { ClusterTest } from "../../../src/testing/ClusterTest.ts"
import { EmbeddedCluster } from "../../../src/apiserver/server/EmbeddedCluster.ts"
import * as DefinitionFiles from "../../../src/apiserver/server/files/definitionFiles.ts"
import { get, layer, same } from "../client.ts"
import { definition, memcached, memcacheds } from "./memcached.ts"

const refusedOne = { ...definition(), metadata: { name: "wrong" } }

const Memcached = Resource.make<any>()({
  group: "cache.example.com",
  version: "v1alpha1",
  kind: "Memcached",
  plural: "memcacheds"
})

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "definitions-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("CustomResourceDefinitions installed at start", () => {
  it.effect("are served by the server", () =>
    Effect.gen(function* () {
      same((yield* get(memcacheds)).kind, "MemcachedList")
    }).pipe(Effect.provide(layer({ crds: [definition()] })))
  )

  it.effect("are a defect when the server rejects them", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provide(get(memcacheds), layer({ crds: [refusedOne] })))
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes('the definition "wrong" is refused: '))
    })
  )

  it.effect("are installed before the initial objects of a test", () =>
    Effect.gen(function* () {
      const cluster = yield* ClusterTest
      same(
        (yield* cluster.snapshot(Memcached)).map((one) => [one.metadata.name, one.spec.port]),
        [["a", 11_211]]
      )
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [definition()], objects: [memcached("a")] })))
  )

  it.live("fail the start of an embedded cluster when they are rejected", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Effect.provide(EmbeddedCluster, EmbeddedCluster.layer({ crds: [refusedOne] })))
      assert.include(error.message, 'the definition "wrong" is refused: ')
    })
  )

  it.live("are read from the JSON and YAML files of a folder", () =>
    Effect.gen(function* () {
      const path = yield* folder
      writeFileSync(join(path, "b.json"), JSON.stringify(definition()))
      writeFileSync(join(path, "a.yaml"), "kind: CustomResourceDefinition\nmetadata: {name: x}\n---\n# nothing\n")
      writeFileSync(join(path, "notes.txt"), "kind: Pod")
      same(
        (yield* DefinitionFiles.read(path)).map((one: any) => one.metadata.name),
        ["x", "memcacheds.cache.example.com"]
      )
      writeFileSync(join(path, "c.yml"), "kind: Pod")
      const { message } = yield* Effect.flip(DefinitionFiles.read(path))
      assert.strictEqual(message, `document 1 of ${join(path, "c.yml")} is no CustomResourceDefinition`)
      assert.match(
        (yield* Effect.flip(DefinitionFiles.read(join(path, "no")))).message,
        /^cannot read the definitions in /
      )
    }).pipe(Effect.scoped)
  )
})
