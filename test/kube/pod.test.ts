import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as PodFacts from "../../src/kube/pod.ts"
import type { Pod } from "../../src/kube/resources.ts"
import * as Time from "../../src/kube/time.ts"

interface Facts {
  readonly phase?: string
  readonly deleting?: boolean
  readonly ready?: string
  readonly since?: string
}

const pod = ({ deleting = false, phase, ready, since }: Facts): Pod => ({
  metadata: { name: "a", ...(deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}) },
  status: {
    ...(phase === undefined ? {} : { phase }),
    ...(ready === undefined
      ? {}
      : {
          conditions: [
            { type: "PodScheduled", status: "True" },
            { type: "Ready", status: ready, ...(since === undefined ? {} : { lastTransitionTime: since }) }
          ]
        })
  }
})

const natural = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))

describe("pod", () => {
  it("is active, terminating, or neither", () => {
    for (const phase of [undefined, "Pending", "Running", "Unknown"]) {
      const facts = phase === undefined ? {} : { phase }
      assert.deepStrictEqual([PodFacts.isActive(pod(facts)), PodFacts.isTerminating(pod(facts))], [true, false])
      const leaving = pod({ ...facts, deleting: true })
      assert.deepStrictEqual([PodFacts.isActive(leaving), PodFacts.isTerminating(leaving)], [false, true])
    }
    for (const phase of ["Succeeded", "Failed"]) {
      for (const deleting of [true, false]) {
        const ended = pod({ phase, deleting })
        assert.deepStrictEqual([PodFacts.isActive(ended), PodFacts.isTerminating(ended)], [false, false])
      }
    }
  })

  it("is ready by its Ready condition only", () => {
    assert.isTrue(PodFacts.isReady(pod({ ready: "True" })))
    for (const ready of ["False", "Unknown"]) assert.isFalse(PodFacts.isReady(pod({ ready })))
    assert.isFalse(PodFacts.isReady(pod({})))
    assert.isFalse(PodFacts.isReady({ metadata: { name: "a" } }))
  })

  it("without the time at which it became ready is available only if minReadySeconds is 0", () => {
    const timeless = pod({ ready: "True" })
    assert.isTrue(PodFacts.isAvailable(timeless, 0, 1e9))
    assert.isFalse(PodFacts.isAvailable(timeless, 1, 1e9))
    assert.isUndefined(PodFacts.untilAvailable(timeless, 1, 0))
    assert.isFalse(PodFacts.isAvailable(pod({ ready: "True", since: "soon" }), 1, 1e9))
  })

  it.prop(
    "is available from the announced millisecond on, and not before",
    { since: natural, min: natural, now: natural },
    ({ min, now, since }) => {
      const one = pod({ ready: "True", since: Time.format(since * 1000) })
      const at = now * 1000
      const left = PodFacts.untilAvailable(one, min, at)
      if (left === undefined) return assert.isTrue(PodFacts.isAvailable(one, min, at))
      assert.isAbove(left, 0)
      assert.isFalse(PodFacts.isAvailable(one, min, at + left - 1))
      assert.isTrue(PodFacts.isAvailable(one, min, at + left))
    }
  )

  it("nextAvailability is that of the first pod, and undefined if time alone changes nothing", () => {
    const since = (seconds: number, ready = "True") => pod({ ready, since: Time.format(seconds * 1000) })
    assert.strictEqual(PodFacts.nextAvailability([since(5), since(3), since(0, "False")], 10, 6000), 7000)
    assert.isUndefined(PodFacts.nextAvailability([since(5), since(3)], 0, 6000))
    assert.isUndefined(PodFacts.nextAvailability([since(0, "False")], 10, 6000))
    assert.isUndefined(PodFacts.nextAvailability([], 10, 6000))
  })
})
