/**
 * Runs all cases on one back end, grouped by headings, and prints a summary: how many cases there are, how many passed, and why others
 * were skipped. A skipped case always has a reason.
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
import type { Backend } from "./backends.ts"
import type { Case, Part, Subject } from "./Case.ts"
import { headings } from "./cases.ts"

interface Ready extends Omit<Subject, "namespace"> {
  readonly lacks: ReadonlyArray<Part>
}

const open = Effect.fnUntraced(function* (backend: Backend, scope: Scope.Scope) {
  const parts = yield* Scope.provide(backend.start, scope)
  const context = yield* Layer.buildWithScope(
    KubeClient.layer.pipe(Layer.provide(Layer.succeed(Transport, parts.transport))),
    scope
  )
  const { body } = yield* parts.ask("GET", "/version")
  return { ...parts, client: Context.get(context, KubeClient), minor: Number.parseInt(body.minor, 10) }
})

/** Reasons for skipping, by missing feature. */
const reasons: Readonly<Record<Part, string>> = {
  credentials: "credentials",
  "HTTP front": "HTTP front",
  "custom objects":
    "custom objects, of which this server dies: its JSON library (modern-go/reflect2 before 1.0.2) cannot walk the maps of the Go (1.18 or newer) that built it"
}

/** Why a case does not run there. */
const obstacle = (one: Case, { lacks, minor }: Ready): string | undefined => {
  if (minor < one.since) return `needs 1.${one.since}, the server is 1.${minor}`
  if (one.needs !== undefined && lacks.includes(one.needs)) return `needs ${reasons[one.needs]}`
  return undefined
}

/** The title, with the rule of a case that needs a newer version. */
const titleOf = (one: Case): string => `${one.title} [1.${one.since}${"rule" in one ? `; ${one.rule}` : ""}]`

interface Tally {
  passed: number
  failed: number
  readonly skipped: Map<string, number>
}

const summary = (backend: Backend, { failed, passed, skipped }: Tally): string => {
  const lines = [...skipped].map(([why, count]) => `  ${count} skipped: ${why}`)
  const count = [...skipped.values()].reduce((sum, one) => sum + one, 0)
  const head = `conformance on ${backend.name}: ${passed + failed + count} cases, ${passed} passed, ${failed} failed, ${count} skipped`
  return [head, ...lines, ""].join("\n")
}

export const conformance = (backend: Backend): void => {
  if (backend.skip !== undefined) process.stderr.write(`conformance on ${backend.name} skipped: ${backend.skip}\n`)
  describe.skipIf(backend.skip !== undefined)(`on ${backend.name}`, () => {
    const scope = Scope.makeUnsafe()
    const tally: Tally = { passed: 0, failed: 0, skipped: new Map() }
    let ready: Ready
    let serial = 0
    beforeAll(async () => {
      ready = await Effect.runPromise(open(backend, scope))
    })
    afterAll(async () => {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      process.stderr.write(summary(backend, tally))
    })

    const check = async (one: Case, skip: (why: string) => void): Promise<void> => {
      const why = obstacle(one, ready)
      if (why !== undefined) {
        tally.skipped.set(why, (tally.skipped.get(why) ?? 0) + 1)
        return skip(why)
      }
      const namespace = `case-${++serial}`
      const setUp = ready.client.create(Namespace, { metadata: { name: namespace } })
      const run = Effect.andThen(setUp, one.run({ ...ready, namespace }))
      const exit = await Effect.runPromiseExit(Effect.scoped(run))
      tally[Exit.isSuccess(exit) ? "passed" : "failed"]++
      await Effect.runPromise(exit)
    }

    for (const [heading, cases] of Object.entries(headings)) {
      // oxlint-disable-next-line vitest/valid-title -- a heading names itself
      describe(heading, () => {
        for (const one of cases) {
          const test = one.alone === true ? it : it.concurrent
          // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- a case asserts and names itself
          test(titleOf(one), { timeout: 20_000 }, (context) => check(one, (why) => context.skip(why)))
        }
      })
    }
  })
}
