import { assert, it } from "@effect/vitest"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Machine from "../../../src/layers/nodes/Machine.ts"
import * as PodLife from "../../../src/layers/nodes/podLife.ts"

const machine = Machine.make("a", 7, "worker")
const delays: PodLife.Delays = { start: 1_000, stop: 2_000 }

const podOf = (given: { spec?: object; status?: object; metadata?: object } = {}): Pod => ({
  metadata: { name: "p", uid: "u", ...given.metadata },
  spec: { nodeName: "a", containers: [{ name: "c", image: "i" }], ...given.spec },
  status: { phase: "Pending", ...given.status }
})

const next = (pod: Pod, now = 10_000, address: string | undefined = "10.244.7.2") =>
  PodLife.next(pod, machine, delays, now, () => address)

const startTime = "1970-01-01T00:00:09Z"

it("does nothing for pods of others, running ones and finished ones", () => {
  assert.strictEqual(next(podOf({ spec: { nodeName: "b" } }))._tag, "Nothing")
  assert.strictEqual(next(podOf({ spec: { nodeName: undefined } }))._tag, "Nothing")
  for (const phase of ["Running", "Succeeded", "Failed"]) {
    assert.strictEqual(next(podOf({ status: { phase, startTime } }))._tag, "Nothing")
  }
})

it("starts, waits, runs: each step from the object alone", () => {
  const started = next(podOf())
  assert.strictEqual(started._tag, "Report")
  if (started._tag === "Report")
    assert.deepInclude(started.status, { phase: "Pending", startTime: "1970-01-01T00:00:10Z" })
  const status = { startTime, phase: "Pending" }
  assert.deepStrictEqual(next(podOf({ status }), 9_400), { _tag: "Wait", delay: 600 })
  const running = next(podOf({ status }), 10_000)
  assert.strictEqual(running._tag, "Report")
  if (running._tag === "Report")
    assert.deepInclude(running.status, { phase: "Running", startTime, podIP: "10.244.7.2" })
})

it("gives a pod on the host network the machine's address, and waits while there is none", () => {
  const host = next(podOf({ spec: { hostNetwork: true }, status: { startTime } }))
  if (host._tag === "Report") assert.deepInclude(host.status, { podIP: "10.0.0.7" })
  assert.strictEqual(host._tag, "Report")
  assert.deepStrictEqual(
    PodLife.next(podOf({ status: { startTime } }), machine, delays, 10_000, () => undefined),
    { _tag: "Wait", delay: 1_000 }
  )
})

it("removes a deleted pod when its containers have stopped, within its grace period", () => {
  const deleted = (grace: number, at: string, status: object = { startTime, phase: "Running" }) =>
    podOf({ metadata: { deletionTimestamp: at, deletionGracePeriodSeconds: grace }, status })
  // Asked for at second 10, 30 s of grace: the stop takes 2 s.
  assert.deepStrictEqual(next(deleted(30, "1970-01-01T00:00:40Z"), 10_500), { _tag: "Wait", delay: 1_500 })
  assert.deepStrictEqual(next(deleted(30, "1970-01-01T00:00:40Z"), 12_000), { _tag: "Remove" })
  // One second of grace is less than the stop takes.
  assert.deepStrictEqual(next(deleted(1, "1970-01-01T00:00:11Z"), 10_500), { _tag: "Wait", delay: 500 })
  // What never started has nothing to stop.
  assert.deepStrictEqual(next(deleted(30, "1970-01-01T00:00:40Z", {}), 10_000), { _tag: "Remove" })
})

it("hands out each address of the pod network once, and says when there are no more", () => {
  const used = new Set<string>()
  for (let address = Machine.podAddress(machine, used); address !== undefined;) {
    assert.isFalse(used.has(address))
    used.add(address)
    address = Machine.podAddress(machine, used)
  }
  assert.strictEqual(used.size, 253)
})
