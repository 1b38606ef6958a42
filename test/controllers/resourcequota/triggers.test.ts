/** Which quotas a change enqueues, with which priority and delay. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as State from "../../../src/controllers/resourcequota/state.ts"
import * as Triggers from "../../../src/controllers/resourcequota/triggers.ts"
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

const start = () => {
  const enqueued: Array<string> = []
  const quotas = storeOf([fresh, known])
  const triggers = Triggers.make(
    {
      quotas,
      queue: {
        addUnsafe: (key, priority = 0) => void enqueued.push(`${key} ${priority}`),
        addWithUnsafe: (key, { after }) => {
          enqueued.push(`${key} after ${Duration.toMillis(after ?? 0)}`)
          return 0
        }
      },
      causes: { begin: () => {}, end: () => {} },
      now: () => 0
    },
    State.make()
  )
  for (const one of quotas.list()) triggers.onQuota({ _tag: "Created", object: one, initial: true })
  const [pods, secrets] = [
    triggers.watch(Pod, storeOf<KubeObject>([])),
    triggers.watch(Secret, storeOf<KubeObject>([]))
  ]
  const before = enqueued.length
  triggers.begin()
  return { enqueued, triggers, pods, secrets, before, take: () => enqueued.splice(0) }
}

describe("the loop of quotas", () => {
  it("enqueues no quota before the kinds have synced, and then first those without a status", () => {
    const { before, triggers, take } = start()
    assert.strictEqual(before, 0)
    assert.deepStrictEqual(take(), [`default/fresh ${Triggers.urgent}`, "default/known 0"])
    triggers.recountAll()
    assert.deepStrictEqual(take(), [`default/fresh ${KeyedQueue.LOW}`, `default/known ${KeyedQueue.LOW}`])
    triggers.onSynced(Secret)
    assert.deepStrictEqual(take(), ["default/known 0"])
  })

  it("enqueues a quota at once for lower usage, later for higher usage, and no other quota", () => {
    const { pods, secrets, take } = start()
    take()
    const [a, b] = [object("a"), object("b")]
    secrets([{ _tag: "Created", object: a, initial: false }])
    assert.deepStrictEqual(take(), [`default/known after ${Triggers.chargeDelay}`])
    secrets([{ _tag: "Updated", object: object("a", { data: {} }), previous: a }])
    assert.deepStrictEqual(take(), [])
    secrets([{ _tag: "Deleted", object: a, stateUnknown: false }])
    assert.deepStrictEqual(take(), ["default/known 0"])
    pods([{ _tag: "Created", object: b, initial: false }])
    assert.deepStrictEqual(take(), [
      `default/fresh after ${Triggers.chargeDelay}`,
      `default/known after ${Triggers.chargeDelay}`
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
    const { triggers, take } = start()
    take()
    const charged = { ...known, status: { ...known.status, used: { pods: "1", secrets: "0" } } }
    triggers.onQuota({ _tag: "Updated", object: charged, previous: known })
    triggers.onQuota({
      _tag: "Updated",
      object: { ...known, spec: { hard: { pods: "1000m", secrets: "1" } } },
      previous: known
    })
    assert.deepStrictEqual(take(), [])
    triggers.onQuota({ _tag: "Updated", object: { ...known, spec: { hard: { pods: "2" } } }, previous: known })
    assert.deepStrictEqual(take(), [`default/known ${Triggers.urgent}`])
  })
})
