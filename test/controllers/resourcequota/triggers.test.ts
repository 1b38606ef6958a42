/** Which quotas a change enqueues, with which priority and delay. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Loop from "../../../src/controllers/resourcequota/triggers.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import { Pod, type ResourceQuota, Secret } from "../../../src/kube/resources.ts"
import * as KeyedQueue from "../../../src/streams/queue/KeyedQueue.ts"
import { storeOf } from "../../support/stores.ts"

const quota = (name: string, hard: Record<string, string>, status?: object): ResourceQuota => ({
  metadata: { name, namespace: "default", uid: name },
  spec: { hard },
  ...(status === undefined ? {} : { status })
})

const object = (name: string, more: object = {}): KubeObject => ({
  metadata: { name, namespace: "default", uid: name },
  ...more
})

const fresh = quota("fresh", { pods: "1" })
const known = quota(
  "known",
  { pods: "1", secrets: "1" },
  { hard: { pods: "1", secrets: "1" }, used: { pods: "0", secrets: "0" } }
)

const startLoop = () => {
  const enqueued: Array<string> = []
  const quotas = storeOf([fresh, known])
  const loop = Loop.make({
    quotas,
    updateStatus: Effect.succeed,
    queue: {
      addUnsafe: (key, priority = 0) => void enqueued.push(`${key} ${priority}`),
      addWithUnsafe: (key, { after }) => {
        enqueued.push(`${key} after ${Duration.toMillis(after ?? 0)}`)
        return 0
      }
    },
    now: () => 0
  })
  for (const one of quotas.list()) loop.onQuota({ _tag: "Created", object: one, initial: true })
  const [pods, secrets] = [loop.watch(Pod, storeOf<KubeObject>([])), loop.watch(Secret, storeOf<KubeObject>([]))]
  const before = enqueued.length
  loop.begin()
  return { enqueued, loop, pods, secrets, before, take: () => enqueued.splice(0) }
}

describe("the loop of quotas", () => {
  it("enqueues no quota before the kinds have synced, and then first those without a status", () => {
    const { before, loop, take } = startLoop()
    assert.strictEqual(before, 0)
    assert.deepStrictEqual(take(), [`default/fresh ${Loop.urgent}`, "default/known 0"])
    loop.recountAll()
    assert.deepStrictEqual(take(), [`default/fresh ${KeyedQueue.LOW}`, `default/known ${KeyedQueue.LOW}`])
    loop.onSynced(Secret)
    assert.deepStrictEqual(take(), ["default/known 0"])
  })

  it("enqueues a quota at once for lower usage, later for higher usage, and no other quota", () => {
    const { pods, secrets, take } = startLoop()
    take()
    const [a, b] = [object("a"), object("b")]
    secrets([{ _tag: "Created", object: a, initial: false }])
    assert.deepStrictEqual(take(), [`default/known after ${Loop.chargeDelay}`])
    secrets([{ _tag: "Updated", object: object("a", { data: {} }), previous: a }])
    assert.deepStrictEqual(take(), [])
    secrets([{ _tag: "Deleted", object: a, stateUnknown: false }])
    assert.deepStrictEqual(take(), ["default/known 0"])
    pods([{ _tag: "Created", object: b, initial: false }])
    assert.deepStrictEqual(take(), [
      `default/fresh after ${Loop.chargeDelay}`,
      `default/known after ${Loop.chargeDelay}`
    ])
    const running = object("b", { status: { phase: "Running" } })
    pods([{ _tag: "Updated", object: running, previous: b }])
    assert.deepStrictEqual(take(), [])
    pods([{ _tag: "Updated", object: object("b", { status: { phase: "Failed" } }), previous: running }])
    assert.deepStrictEqual(take(), ["default/fresh 0", "default/known 0"])
    pods([{ _tag: "Created", object: { metadata: { name: "c", namespace: "other" } }, initial: false }])
    assert.deepStrictEqual(take(), [])
  })

  it("enqueues a quota with changed limits, and ignores status changes", () => {
    const { loop, take } = startLoop()
    take()
    const charged = { ...known, status: { ...known.status, used: { pods: "1", secrets: "0" } } }
    loop.onQuota({ _tag: "Updated", object: charged, previous: known })
    loop.onQuota({
      _tag: "Updated",
      object: { ...known, spec: { hard: { pods: "1000m", secrets: "1" } } },
      previous: known
    })
    assert.deepStrictEqual(take(), [])
    loop.onQuota({ _tag: "Updated", object: { ...known, spec: { hard: { pods: "2" } } }, previous: known })
    assert.deepStrictEqual(take(), [`default/known ${Loop.urgent}`])
  })
})
