/**
 * The properties of histories are proven: each of these faults, written into a copy of the loops, makes one of them fail, with a
 * history short enough to read. A loop holds a key until the cache has its last writes, which hides what the books of expectations
 * are for; those faults are therefore seeded into loops that do not wait, and which pass without them. Faults in how books are kept show
 * only at moments that a whole cluster rarely has: they are seeded in `controllers/workload/replicaLoop.test.ts`, whose cache lags
 * as it likes, and those of proportional scaling in `controllers/deployment/scaling.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Deployment from "../../src/controllers/Deployment.ts"
import type * as ReplicaSet from "../../src/controllers/ReplicaSet.ts"
import { type Edit, loadEdited } from "../support/mutant.ts"
import type { Loops } from "./play.ts"
import * as Steps from "./steps.ts"
import * as Suite from "./suite.ts"

/** The history need not be long to be unlucky: steps in which something can go wrong, one after another. */
const of = (...tags: ReadonlyArray<Steps.Do["_tag"]>) => {
  const members = Steps.Do.members.filter((member) => tags.includes(member.fields._tag.schema.literal))
  return Arbitrary.schema(
    Schema.Struct({
      replicas: Steps.History.fields.replicas,
      inherits: Steps.History.fields.inherits,
      steps: Schema.Array(Schema.Struct({ do: Schema.Union(members), wait: Steps.Step.fields.wait }))
    })
  )
}

/** No key is held for the sake of its own writes. */
const hasty: Edit = { path: "layers/controller/loop.ts", find: "            park: writes.park,\n", replace: "" }

const replicaset = async (title: string, edits: ReadonlyArray<Edit>): Promise<Partial<Loops>> => ({
  replicaset: (await loadEdited<typeof ReplicaSet>("controllers/ReplicaSet.ts", title, edits)).make()
})

const deployment = async (title: string, edits: ReadonlyArray<Edit>): Promise<Partial<Loops>> => ({
  deployment: (await loadEdited<typeof Deployment>("controllers/Deployment.ts", title, edits)).make()
})

/** Pods come and go while the cache is behind. */
const lagging = of("Scale", "DeletePod", "Stale", "Slow", "SetImage")

interface Mutant {
  readonly title: string
  readonly loops: (title: string) => Promise<Partial<Loops>>
  readonly histories: Arbitrary.Arbitrary<Steps.History>
}

const mutants: ReadonlyArray<Mutant> = [
  {
    title: "expectations ignored",
    loops: (title) =>
      replicaset(title, [
        hasty,
        {
          path: "controllers/workload/replicaLoop.ts",
          find: "books.wait(key, monotonic()) === 0 && ",
          replace: ""
        }
      ]),
    histories: of("Slow", "DeletePod")
  },
  {
    title: "adoption without the live read",
    loops: (title) =>
      replicaset(title, [
        hasty,
        {
          path: "controllers/workload/adopt.ts",
          find: "asked ??= yield* Effect.result(mayAdopt(claiming))",
          replace: "asked ??= Result.succeed(undefined)"
        }
      ]),
    histories: of("OrphanSet", "Slow")
  },
  {
    title: "the replica set found by hash",
    loops: (title) =>
      deployment(title, [
        {
          path: "controllers/deployment/replicaSets.ts",
          find: "sameTemplate(set.spec?.template, deployment.spec?.template))",
          replace:
            "set.metadata.labels?.[hashLabel] === Hash.template(deployment.spec?.template ?? {}, deployment.status?.collisionCount))"
        },
        {
          path: "controllers/deployment/replicaSets.ts",
          find: 'import * as Equality from "../../kube/equality.ts"\n',
          replace: 'import * as Equality from "../../kube/equality.ts"\nimport * as Hash from "../../kube/hash.ts"\n'
        }
      ]),
    histories: of("SetImage", "Rollback", "Scale")
  }
]

describe("histories", () => {
  it.effect(
    "hold for replica sets whose loop does not wait for its own writes",
    () =>
      Effect.gen(function* () {
        const loops = yield* Effect.promise(() => replicaset("no waiting", [hasty]))
        const result = yield* Suite.check(lagging, Suite.always, { runs: 20, seed: 1, loops })
        assert.isUndefined(Arbitrary.formatCheckFailure(result))
      }),
    600_000
  )

  for (const { histories, loops: load, title } of mutants) {
    it.effect(
      `mutant is caught: ${title}`,
      () =>
        Effect.gen(function* () {
          const loops = yield* Effect.promise(() => load(title))
          const result = yield* Suite.check(histories, Suite.always, { runs: 100, seed: 1, maxShrinks: 0, loops })
          assert.strictEqual(result._tag, "Falsified")
        }),
      600_000
    )
  }
})
