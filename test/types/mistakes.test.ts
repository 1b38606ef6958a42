/**
 * Typical mistakes in a controller, compiled in one program: the first line of the compiler's message names the cause, and without the mistake the same
 * code compiles.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { compile } from "../support/userModules.ts"

interface Mistake {
  readonly title: string
  /** The code with the mistake. */
  readonly code: string
  /** What belongs in the place of `‹…›`, which marks the mistake. */
  readonly right: string
  /** What the first line of the message contains. */
  readonly names: ReadonlyArray<string>
}

const mistakes: Readonly<Record<string, Mistake>> = {
  verb: {
    title: "a call of the client whose verb is declared for another kind",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        access: [Access.patch(Pod), Access.update(‹ConfigMap›)],
        reconcile: ({ key }, { cache, client }) =>
          Effect.gen(function* () {
            const pod = yield* cache.get(Pod, key)
            if (pod !== undefined) yield* client.update(Pod, pod)
          })
      })`,
    right: "Pod",
    names: ["v1/pods", "Access.update(…) in access"]
  },
  access: {
    title: "a call of the client without any access",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,‹›
        reconcile: ({ name, namespace }, { client }) => Effect.asVoid(client.patch(Pod, { name, namespace }, Patch.merge({})))
      })`,
    right: "access: [Access.patch(Pod)],",
    names: ["v1/pods", "Access.patch(…) in access"]
  },
  kind: {
    title: "a read of a kind that is not in the cache",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        access: [‹Access.get›(ConfigMap)],
        reconcile: ({ key }, { cache }) => Effect.asVoid(cache.get(ConfigMap, key))
      })`,
    right: "Access.read",
    names: ["v1/configmaps", "Access.read(…) in access"]
  },
  subresource: {
    title: "a write to a subresource that is not declared",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        access: [Access.patch(Pod‹›)],
        reconcile: ({ name }, { client }) =>
          Effect.asVoid(client.subresource("status").patch(Pod, { name }, Patch.merge({})))
      })`,
    right: `, "status"`,
    names: ["this subresource in access"]
  },
  apply: {
    title: "an apply that may not create",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        access: [Access.patch(ConfigMap)‹›],
        reconcile: ({ name }, { client }) => Effect.asVoid(applier(client).apply(ConfigMap, { metadata: { name } }))
      })`,
    right: ", Access.create(ConfigMap)",
    names: ["v1/configmaps", "Access.create(…) and Access.patch(…) in access"]
  },
  events: {
    title: "an event without Access.record",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,‹›
        reconcileObject: (pod, { events }) => events.normal(pod, "Seen", "it was seen")
      })`,
    right: "access: [Access.record],",
    names: ["Access.record in access"]
  },
  result: {
    title: "a reconcile that succeeds with an object",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        access: [Access.patch(Pod), Access.read(ConfigMap)],
        reconcile: ({ key }, { cache }) => ‹›(cache.get(Pod, key))
      })`,
    right: "Effect.asVoid",
    names: ["nothing, Reconcile.done or Reconcile.after(…)"]
  },
  promise: {
    title: "a reconcile that returns a promise",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        reconcile: ‹async () => {}›
      })`,
    right: "() => Effect.void",
    names: ["Promise<void>", "Effect<"]
  },
  owns: {
    title: "owned kinds without the kind that owns them",
    code: `
      export const made = Controller.make({
        name: "a",‹›
        owns: [Pod],
        reconcile: () => Effect.void
      })`,
    right: "for: Deployment,",
    names: ["v1/pods", "for, the kind that owns it"]
  },
  option: {
    title: "a misspelt option",
    code: `
      export const made = Controller.make({
        name: "a",
        for: Pod,
        ‹acces›: [Access.patch(Pod)],
        reconcile: () => Effect.void
      })`,
    right: "access",
    names: ["'acces'", "'access'"]
  },
  service: {
    title: "a program without a service of its controllers",
    code: `
      class Database extends Context.Service<Database, { readonly url: string }>()("Database") {
        static readonly layer = Layer.succeed(Database, { url: "memory" })
      }
      const needy = Controller.make({ name: "needy", for: Pod, reconcile: () => Effect.asVoid(Database) })
      export const made = () => run({ name: "a", controllers: [needy]‹› })`,
    right: ", services: Database.layer",
    names: ["Descriptor<Database>", "a layer of it in services"]
  }
}

const imports = `
import { Access, applier, ConfigMap, Controller, Deployment, Patch, Pod } from "effect-controller-manager"
import { run } from "effect-controller-manager/node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
`

describe("mistakes in a controller", () => {
  let messages: Readonly<Record<string, ReadonlyArray<string>>> = {}

  beforeAll(() => {
    messages = compile(
      Object.fromEntries(
        Object.entries(mistakes).flatMap(([name, { code, right }]) => [
          [name, imports + code.replace(/[‹›]/g, "")],
          [`${name}Right`, imports + code.replace(/‹.*›/, right)]
        ])
      )
    )
  })

  for (const [name, { names, title }] of Object.entries(mistakes)) {
    it(`${title}: the first line of the compiler's message names the cause`, () => {
      const [first = ""] = messages[name] ?? []
      for (const part of names) assert.include(first, part)
      assert.notInclude(first, "\n")
      assert.deepStrictEqual(messages[`${name}Right`], [])
    })
  }
})
