/**
 * One list of promises, three back ends. The real server needs `KUBEBUILDER_ASSETS`; a case that a server is too old for is
 * skipped with the reason.
 */
import { afterAll, beforeAll, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Namespace } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Transport } from "../../src/layers/Transport.ts"
import { backends, type Backend } from "./backends.ts"
import type { Subject } from "./Case.ts"
import { lists } from "./cases/lists.ts"
import { objects } from "./cases/objects.ts"
import { others } from "./cases/others.ts"
import { patches } from "./cases/patches.ts"
import { watches } from "./cases/watches.ts"

const suites = { objects, patches, lists, watches, others }

interface Ready extends Omit<Subject, "namespace"> {
  /** Minor version. */
  readonly minor: number
}

const open = Effect.fnUntraced(function* (backend: Backend, scope: Scope.Scope) {
  const { as, compact, transport } = yield* Scope.provide(backend.start, scope)
  const context = yield* Layer.buildWithScope(
    KubeClient.layer.pipe(Layer.provide(Layer.succeed(Transport, transport))),
    scope
  )
  const client = Context.get(context, KubeClient)
  const version = yield* client.raw({ method: "GET", path: "/version", context: { verb: "raw", path: "/version" } })
  const { minor } = version.body as { minor: string }
  return { client, transport, compact, as, minor: Number.parseInt(minor, 10) }
})

for (const backend of backends) {
  if (backend.skip !== undefined) process.stderr.write(`conformance on ${backend.name} skipped: ${backend.skip}\n`)
  describe.skipIf(backend.skip !== undefined)(`on ${backend.name}`, () => {
    const scope = Scope.makeUnsafe()
    let ready: Ready
    let serial = 0
    beforeAll(async () => {
      ready = await Effect.runPromise(open(backend, scope))
    }, 60_000)
    afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    for (const [suite, cases] of Object.entries(suites)) {
      describe(`cases of ${suite}`, () => {
        for (const one of cases) {
          // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- a case asserts and names itself
          it(one.title, { timeout: 20_000 }, async (context) => {
            const { minor, ...subject } = ready
            if (one.since !== undefined && minor < one.since) {
              return context.skip(`needs 1.${one.since}, the server is 1.${minor}`)
            }
            if (one.needs !== undefined && backend.lacks.includes(one.needs)) {
              return context.skip(`${backend.name} has no ${one.needs} yet`)
            }
            const namespace = `case-${++serial}`
            const setUp = subject.client.create(Namespace, { metadata: { name: namespace } })
            const run = Effect.andThen(setUp, one.run({ ...subject, namespace }))
            await Effect.runPromise(Effect.scoped(run))
          })
        }
      })
    }
  })
}
