/** Which controllers `--controllers` selects: each by each of its names, on both kinds of cluster. Source: k8s.io/controller-manager/app: IsControllerEnabled. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Selection from "../../src/cli/selection.ts"
import * as Program from "../../src/manager/Program.ts"
import * as Registry from "../../src/manager/registry.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import { product } from "../../src/cli/product.ts"

const program = Result.getOrThrow(product)

/** Selects as on the command line, with a signing key and a cloud provider. */
const select = Effect.fnUntraced(function* (controllers: string, embedded: boolean) {
  const flags = new Map([
    ["controllers", controllers],
    ["service-account-private-key-file", "/etc/kubernetes/pki/sa.key"],
    ["cloud-loops", "include"],
    ["cloud-provider", "memory"]
  ])
  const resolved = Result.getOrThrow(Sources.resolve(program.settings, { flags, env: {} }))
  const table = yield* Selection.tableOf(resolved).pipe(Effect.provideService(Program.Program, program))
  const { chosen, disabled } = Result.getOrThrow(Registry.select(table, resolved.values.controllers, { embedded }))
  return { table, chosen: chosen.map(({ controller }) => controller.name), disabled }
})

describe("each controller of the program", () => {
  it.effect("runs alone if it is the only one named, by its name or an alias", () =>
    Effect.gen(function* () {
      const { table } = yield* select("*", true)
      const names = table.map(({ controller }) => controller.name)
      assert.isAtLeast(names.length, 20)
      for (const { aliases = [], controller } of table) {
        for (const name of [controller.name, ...aliases]) {
          for (const embedded of [true, false]) {
            const { chosen, disabled } = yield* select(name, embedded)
            assert.deepStrictEqual(chosen, [controller.name], name)
            assert.deepStrictEqual(
              disabled,
              names.filter((other) => other !== controller.name)
            )
          }
        }
      }
    })
  )

  it.effect("is disabled alone by a minus before its name or an alias", () =>
    Effect.gen(function* () {
      const { chosen: all, table } = yield* select("*", true)
      for (const { aliases = [], controller } of table) {
        for (const name of [controller.name, ...aliases]) {
          const { chosen } = yield* select(`*,-${name}`, true)
          assert.deepStrictEqual(
            chosen,
            all.filter((other) => other !== controller.name),
            name
          )
        }
      }
    })
  )

  it.effect(
    "of kube-controller-manager is off on a real cluster unless it is named, and on by default on the embedded one",
    () =>
      Effect.gen(function* () {
        const { chosen, table } = yield* select("*", false)
        const core = table.filter(({ group }) => group === "core").map(({ controller }) => controller.name)
        assert.isEmpty(chosen.filter((name) => core.includes(name)))
        assert.includeMembers([...(yield* select("*", true)).chosen], core)
      })
  )
})
