/**
 * Definitions with the constructs of well-known operators: each gives a module that compiles and can be imported, whose definition says what the
 * original says, and the embedded API server serves it and stores its sample as the types decode it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readdirSync, readFileSync } from "node:fs"
import * as Documents from "../../../../src/cli/types/documents.ts"
import * as Crd from "../../../../src/kube/crd/Crd.ts"
import type { Definition } from "../../../../src/kube/crd/types/definition.ts"
import * as Module from "../../../../src/kube/crd/types/Module.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"
import * as Resource from "../../../../src/kube/Resource.ts"
import { applyDefaults } from "../../../../src/kube/structural/applyDefaults.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import * as Definitions from "../../../../src/manager/crds/Definitions.ts"
import { parseAllDocuments } from "yaml"
import { layer } from "../../../support/cluster.ts"
import { compile, execute } from "../../../support/userModules.ts"
import { resourcesOf } from "./evaluate.ts"
import { normal } from "./normal.ts"

const folder = new URL("fixtures/", import.meta.url)
const names = readdirSync(folder).map((file) => file.replace(".yaml", ""))
const textOf = (name: string): string => readFileSync(new URL(`${name}.yaml`, folder), "utf8")

const read = (name: string) =>
  Effect.map(Documents.read(textOf(name), `${name}.yaml`), ({ faults, found }): Definition => {
    assert.deepStrictEqual(faults, [])
    return found[0]!.definition
  })

const sampleOf = (name: string): KubeObject => parseAllDocuments(textOf(name), { merge: true })[1]!.toJS() as KubeObject

const sourceOf = (definition: Definition): string =>
  Module.source(Module.make([definition]), [definition.metadata.name])

describe.each(names)("the types of %s", (name) => {
  it.effect("say what the definition says", () =>
    Effect.gen(function* () {
      const definition = yield* read(name)
      const [resource] = resourcesOf([definition])
      assert.strictEqual(normal(Result.getOrThrow(Crd.make(resource!))), normal(definition))
      // Generating from what was generated changes nothing.
      const again = Result.getOrThrow(Crd.make(resource!)) as unknown as Definition
      const [twice] = resourcesOf([again])
      assert.strictEqual(normal(Result.getOrThrow(Crd.make(twice!))), normal(definition))
    })
  )

  it.effect("decode what the embedded API server stores, and encode it again", () =>
    Effect.gen(function* () {
      const definition = yield* read(name)
      const [resource] = resourcesOf([definition])
      const client = yield* KubeClient
      yield* Definitions.install([resource!])
      const namespace = resource!.scope === "Namespaced" ? { namespace: "default" } : {}
      const sample = sampleOf(name)
      const created = yield* client.create(resource!, sample, namespace)
      // A status is dropped when an object is created, so its default is not in the answer.
      const version = definition.spec.versions.find((one) => one.name === resource!.version)!
      const stored = applyDefaults(version.schema.openAPIV3Schema, created)
      const decoded = Result.getOrThrow(resource!.decode(stored))
      assert.deepStrictEqual(Result.getOrThrow(resource!.encode(decoded, stored)), stored)
      assert.deepStrictEqual(yield* Definitions.install([resource!]), [
        { name: Resource.qualifiedName(resource!), outcome: "unchanged" }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.effect("are a module that can be imported", () =>
    Effect.gen(function* () {
      const definition = yield* read(name)
      const exported = yield* Effect.promise(() => execute<Record<string, unknown>>(sourceOf(definition)))
      const resource = Object.values(exported).find((one) => Resource.isCustom(one as Resource.Any))
      const [evaluated] = resourcesOf([definition])
      const made = (one: unknown) => Result.getOrThrow(Crd.make(one as Resource.AnyCustom))
      assert.deepStrictEqual(made(resource), made(evaluated))
    })
  )
})

/** A program with the types: fields that the definition requires, or has a default for, are there. */
const usage = `
import { Access, Controller } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { Route, type RouteSpecRules } from "./route.ts"
import { Issuer } from "./issuer.ts"

export const controller = Controller.make({
  name: "route",
  for: Route,
  access: [Access.patch(Route, "status"), Access.read(Issuer)],
  reconcileObject: (route) =>
    Effect.gen(function* () {
      const rules: ReadonlyArray<RouteSpecRules> = route.spec.rules
      const type: "Exact" | "PathPrefix" | "RegularExpression" | undefined = rules[0]?.matches[0]?.path.type
      const port: number | string | undefined = rules[0]?.backends?.[0]?.port
      const portOfParent: number | undefined = route.spec.parents?.[0]?.port
      // @ts-expect-error -- not in the definition
      yield* Effect.log(type, port, portOfParent, route.spec.unheard)
    })
})
`

describe("generated modules", () => {
  it.effect("compile under strict settings, together with a controller that uses them", () =>
    Effect.gen(function* () {
      const all = yield* Effect.forEach(names, (name) =>
        Effect.map(read(name), (one) => [name, sourceOf(one)] as const)
      )
      const modules = Object.fromEntries([...all, ["usage", usage]])
      const found = Object.entries(compile(modules)).filter(([, messages]) => messages.length > 0)
      assert.deepStrictEqual(found, [])
    })
  )

  it.effect("have no line of more than 120 columns, except where a word is longer", () =>
    Effect.gen(function* () {
      for (const name of names) {
        for (const line of sourceOf(yield* read(name)).split("\n")) {
          assert.isTrue(line.length <= 120 || /isPattern\(\/|pattern: "|^\s+\//.test(line), line)
        }
      }
    })
  )
})
