/** The write of a status: how often it is sent, onto which object, and what its caller gets. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as StatusWriter from "../../../../src/controllers/shared/workload/statusWriter.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"
import type { KubeObject } from "../../../../src/kube/Meta.ts"

interface Owner extends KubeObject {
  readonly status?: { readonly ready: number }
}

const owner = (uid: string, version: string, ready: number): Owner => ({
  metadata: { name: "web", uid, resourceVersion: version },
  status: { ready }
})

const conflict = ApiError.fromStatus({ context: { verb: "update", path: "/" }, status: 409, body: "changed" })

/** Calls whose first `refused` writes fail, and the requests that they received. */
const callsOf = (live: Owner, refused: number) => {
  const requests: Array<string> = []
  return {
    requests,
    live: () => Effect.sync(() => (requests.push("get"), live)),
    updateStatus: (one: Owner) =>
      Effect.suspend(() => {
        requests.push(`write ${one.metadata.resourceVersion} ${one.status?.ready}`)
        return requests.filter((line) => line.startsWith("write")).length <= refused
          ? Effect.fail(conflict)
          : Effect.succeed({ ...one, metadata: { ...one.metadata, resourceVersion: "9" } })
      })
  }
}

const ready = (count: number) => (stored: Owner["status"]) => (stored?.ready === count ? stored : { ready: count })

describe("the write of a status", () => {
  it.effect("sends one request, and returns the answer", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("a", "2", 0), 0)
      const written = yield* StatusWriter.write(calls, owner("a", "1", 0), ready(3))
      assert.deepStrictEqual([requests, written.metadata.resourceVersion], [["write 1 3"], "9"])
    })
  )

  it.effect("sends nothing, and returns the owner, if the status is the same", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("a", "2", 0), 0)
      const given = owner("a", "1", 3)
      assert.strictEqual(yield* StatusWriter.write(calls, given, ready(3)), given)
      assert.deepStrictEqual(requests, [])
    })
  )

  it.effect("is retried once, onto the live object", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("a", "2", 1), 1)
      yield* StatusWriter.write(calls, owner("a", "1", 0), ready(3))
      assert.deepStrictEqual(requests, ["write 1 3", "get", "write 2 3"])
    })
  )

  it.effect("is not retried if the live object has the status", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("a", "2", 3), 1)
      const written = yield* StatusWriter.write(calls, owner("a", "1", 0), ready(3))
      assert.deepStrictEqual([requests, written.metadata.resourceVersion], [["write 1 3", "get"], "2"])
    })
  )

  it.effect("fails after the second refusal", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("a", "2", 0), 2)
      assert.strictEqual(yield* Effect.flip(StatusWriter.write(calls, owner("a", "1", 0), ready(3))), conflict)
      assert.strictEqual(requests.length, 3)
    })
  )

  it.effect("fails with the first refusal if another object has the name now", () =>
    Effect.gen(function* () {
      const { requests, ...calls } = callsOf(owner("b", "2", 0), 1)
      assert.strictEqual(yield* Effect.flip(StatusWriter.write(calls, owner("a", "1", 0), ready(3))), conflict)
      assert.deepStrictEqual(requests, ["write 1 3", "get"])
    })
  )
})

describe("a field of the status", () => {
  it("counts as kept until an answer lacks it, and again when an answer has it", () => {
    const field = StatusWriter.keptField()
    const seen = [field.isKept()]
    for (const [written, answer] of [
      [undefined, undefined],
      [1, undefined],
      [undefined, 1],
      [1, 1]
    ]) {
      field.answered(written, answer)
      seen.push(field.isKept())
    }
    assert.deepStrictEqual(seen, [true, true, false, false, true])
  })
})
