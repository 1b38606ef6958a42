/** Which clients share a rate limit, in the program's own command and in kube-controller-manager mode. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { identities } from "../../src/cli/identities.ts"
import * as Limits from "../../src/cli/limits.ts"
import * as Selection from "../../src/cli/selection.ts"
import { between } from "../../src/cli/services.ts"
import { Event, Pod } from "../../src/kube/resources.ts"
import { type Client, KubeClient } from "../../src/layers/KubeClient.ts"
import type * as Clusters from "../../src/cli/cluster/clusters.ts"
import * as Program from "../../src/manager/Program.ts"
import * as Registry from "../../src/manager/registry.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import { Transport } from "../../src/layers/Transport.ts"
import { product } from "../../src/cli/product.ts"

const program = Result.getOrThrow(product)

const server = "https://10.0.0.1:6443"

/** A program with these flags: its own client and the clients of its controllers, which are created together. */
const asking = Effect.fnUntraced(
  function* (flags: Readonly<Record<string, string>>) {
    const said = { controllers: "*", "service-account-private-key-file": "/sa.key", ...flags }
    const resolved = Result.getOrThrow(
      Sources.resolve(program.settings, { flags: new Map(Object.entries(said)), env: {} })
    )
    const settings = resolved.values
    const table = yield* Selection.tableOf(resolved)
    const selection = Result.getOrThrow(Registry.select(table, settings.controllers, { embedded: true }))
    let sent = 0
    const transport = Transport.of({
      send: () =>
        Effect.sync(() => ({ status: ++sent > 0 ? 200 : 0, body: { metadata: { name: "a" } }, warnings: [] })),
      watch: () => Stream.empty
    })
    const cluster = { server, address: undefined } as unknown as Clusters.Connected
    const identify = yield* identities(settings, cluster, selection)
    const pace = yield* Limits.ofProgram(settings, server)
    const door = between(settings, program, pace)(transport)
    const own = Context.get(
      yield* Layer.build(Layer.provide(KubeClient.layer, Layer.succeed(Transport, door))),
      KubeClient
    )
    const of = (name: string) => {
      const entry = selection.chosen.find(({ controller }) => controller.name === name)
      assert(entry !== undefined, name)
      return identify(entry.controller, own)
    }
    /** How many of many concurrent calls are sent at once, and within ten seconds. */
    const rate = Effect.fnUntraced(function* (call: Effect.Effect<unknown, unknown>) {
      const before = sent
      yield* Effect.forEach(Array.from({ length: 1000 }), () => Effect.forkScoped(call), { discard: true })
      yield* TestClock.adjust(0)
      const atOnce = sent - before
      yield* TestClock.adjust("10 seconds")
      return [atOnce, sent - before]
    }, Effect.scoped)
    return { own, of, rate }
  },
  Effect.provideService(Program.Program, program)
)

const pod = { namespace: "default", name: "a" }
const get = (client: Client) => client.get(Pod, pod)

const limited = { "kube-api-qps": "2", "kube-api-burst": "3" }

describe("a limit on requests", () => {
  it.effect("is one for all controllers in the program's own command", () =>
    Effect.gen(function* () {
      const { of, own, rate } = yield* asking(limited)
      const all = yield* Effect.forEach(["deployment", "namespace", "job"], of)
      assert.deepStrictEqual(yield* rate(Effect.forEach([own, ...all], get, { concurrency: 4 })), [3, 23])
    }).pipe(Effect.scoped, Effect.provideService(Limits.Sharing, "one"))
  )

  it.effect("is one for each controller in kube-controller-manager mode, larger for some, as in Kubernetes", () =>
    Effect.gen(function* () {
      const { of, own, rate } = yield* asking(limited)
      const rates = Effect.fnUntraced(function* (name: string) {
        return [name, ...(yield* rate(get(yield* of(name))))]
      })
      assert.deepStrictEqual(yield* Effect.forEach(["deployment", "job", "namespace", "garbagecollector"], rates), [
        ["deployment", 3, 23],
        ["job", 3, 23],
        ["namespace", 300, 700],
        ["garbagecollector", 3, 43]
      ])
      const discover = own.raw({ method: "GET", path: "/apis", context: { verb: "discover", path: "/apis" } })
      assert.deepStrictEqual(yield* rate(discover), [200, 400])
      assert.deepStrictEqual(yield* rate(own.list(Pod)), [3, 23])
      assert.deepStrictEqual(yield* rate(own.get(Event, pod)), [3, 23])
    }).pipe(Effect.scoped, Effect.provideService(Limits.Sharing, "each"))
  )

  it.effect("is off without the settings", () =>
    Effect.gen(function* () {
      const { of, rate } = yield* asking({})
      assert.deepStrictEqual(yield* rate(get(yield* of("deployment"))), [1000, 1000])
    }).pipe(Effect.scoped, Effect.provideService(Limits.Sharing, "each"))
  )
})
