import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Pod } from "../../src/kube/resources.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as PodLifecycle from "../../src/simulation/podLifecycle.ts"

const machine = Machine.make("a", 7, "worker")
const delays: PodLifecycle.Delays = { start: 1_000, stop: 2_000 }

const podOf = (given: { spec?: object; status?: object; metadata?: object } = {}): Pod => ({
  metadata: { name: "p", namespace: "default", uid: "u", ...given.metadata },
  spec: { nodeName: "a", containers: [{ name: "c", image: "i" }], ...given.spec },
  status: { phase: "Pending", ...given.status }
})

interface PodRun {
  pod: Pod
  now: number
  memory: PodLifecycle.Memory
  removed: boolean
  /** A line for each status written: the second, the phase, and what each container does. */
  readonly log: Array<string>
  readonly reasons: Array<string>
}

const newRun = (pod: Pod): PodRun => ({
  pod,
  now: 0,
  memory: PodLifecycle.nothingKnown,
  removed: false,
  log: [],
  reasons: []
})

const stateOf = ({ ready, restartCount, state }: ContainerStatus): string => {
  const what =
    state?.waiting?.reason ??
    (state?.terminated !== undefined ? `exit ${state.terminated.exitCode}` : ready ? "ready" : "running")
  return restartCount === 0 ? what : `${what} #${restartCount}`
}
type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]

const line = ({ now, pod }: PodRun): string => {
  const words = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(stateOf)
  return `${now / 1_000} ${pod.status?.phase}: ${words.join(", ")}`
}

const isBadImage = (image: string): boolean => image === "bad"

/** Executes one step. Returns when the next is due: now if this one wrote something. */
const executeStep = (podRun: PodRun, isBad: typeof isBadImage): number | undefined => {
  const given = { machine, delays, memory: podRun.memory, address: () => "10.244.7.2", isBad }
  const step = PodLifecycle.next(podRun.pod, given, podRun.now)
  podRun.memory = step.memory
  podRun.reasons.push(...step.notes.map(({ reason }) => reason))
  if (step.isRemovable) {
    podRun.removed = true
    return undefined
  }
  if (step.status === undefined) return step.wake
  podRun.pod = { ...podRun.pod, status: step.status }
  podRun.log.push(line(podRun))
  return podRun.now
}

/** Executes steps until `end`, in milliseconds; virtual time jumps from one wake-up to the next. */
const runUntil = (podRun: PodRun, end: number): PodRun => {
  for (let steps = 0; ; steps++) {
    assert.isBelow(steps, 10_000, "looks without an end")
    const wake = executeStep(podRun, isBadImage)
    if (podRun.removed || wake === undefined || wake > end) break
    podRun.now = Math.max(podRun.now, wake)
  }
  podRun.now = end
  return podRun
}

const condition = (podRun: PodRun, type: string) => podRun.pod.status?.conditions?.find((one) => one.type === type)

const command = (text: string, more: object = {}) => ({
  containers: [{ name: "c", image: "i", command: ["sh", "-c", text] }],
  ...more
})

it("pods of other nodes and finished pods are not touched", () => {
  assert.deepStrictEqual(runUntil(newRun(podOf({ spec: { nodeName: "b" } })), 5_000).log, [])
  assert.deepStrictEqual(runUntil(newRun(podOf({ spec: { nodeName: undefined } })), 5_000).log, [])
  for (const phase of ["Succeeded", "Failed"])
    assert.deepStrictEqual(runUntil(newRun(podOf({ status: { phase } })), 5_000).log, [])
})

it("a pod starts and runs, with the status and events of a real kubelet", () => {
  const podRun = runUntil(newRun(podOf()), 60_000)
  assert.deepStrictEqual(podRun.log, ["0 Pending: ContainerCreating", "1 Running: ready"])
  assert.deepStrictEqual(podRun.reasons, ["Pulling", "Pulled", "Created", "Started"])
  assert.deepInclude(podRun.pod.status, {
    hostIP: "10.0.0.7",
    podIP: "10.244.7.2",
    startTime: "1970-01-01T00:00:00Z",
    qosClass: "BestEffort"
  })
  assert.deepInclude(podRun.pod.status?.containerStatuses?.[0], {
    containerID: "simulated://u/c/0",
    imageID: "simulated://i",
    started: true,
    restartCount: 0
  })
  const times = Object.fromEntries(
    (podRun.pod.status?.conditions ?? []).map((one) => [one.type, one.lastTransitionTime])
  )
  assert.deepStrictEqual(times, {
    PodReadyToStartContainers: "1970-01-01T00:00:01Z",
    Initialized: "1970-01-01T00:00:00Z",
    Ready: "1970-01-01T00:00:01Z",
    ContainersReady: "1970-01-01T00:00:01Z",
    PodScheduled: "1970-01-01T00:00:00Z"
  })
})

it("a pod is ready when its probes have succeeded often enough and its readiness gates are true", () => {
  const readinessProbe = { initialDelaySeconds: 5, periodSeconds: 3, successThreshold: 3 }
  const startupProbe = { initialDelaySeconds: 2 }
  const spec = {
    containers: [{ name: "c", image: "i", readinessProbe, startupProbe }],
    readinessGates: [{ conditionType: "example.com/lb" }]
  }
  const podRun = runUntil(newRun(podOf({ spec })), 60_000)
  assert.deepStrictEqual(podRun.log, [
    "0 Pending: ContainerCreating",
    "1 Running: running",
    "3 Running: running",
    "12 Running: ready"
  ])
  assert.strictEqual(condition(podRun, "ContainersReady")?.lastTransitionTime, "1970-01-01T00:00:12Z")
  assert.deepInclude(condition(podRun, "Ready"), { status: "False", reason: "ReadinessGatesNotReady" })
  const gate = { type: "example.com/lb", status: "True" }
  podRun.pod = {
    ...podRun.pod,
    status: { ...podRun.pod.status, conditions: [...podRun.pod.status!.conditions!, gate] }
  }
  runUntil(podRun, 61_000)
  assert.deepInclude(condition(podRun, "Ready"), { status: "True", lastTransitionTime: "1970-01-01T00:01:00Z" })
  assert.deepInclude(condition(podRun, "example.com/lb"), gate)
  podRun.pod = { ...podRun.pod, metadata: { ...podRun.pod.metadata, annotations: { "simulation/unready": "x, c" } } }
  runUntil(podRun, 62_000)
  assert.deepInclude(condition(podRun, "Ready"), { status: "False", reason: "ContainersNotReady" })
})

it("a crashing container restarts after 10 s, then after twice as long each time up to 300 s", () => {
  const podRun = runUntil(newRun(podOf({ spec: command("sleep 3; exit 1") })), 400_000)
  const starts = podRun.log.filter((one) => one.includes("ready")).map((one) => Number(one.split(" ")[0]))
  // The first restart has no back-off: it takes the second that starting takes.
  assert.deepStrictEqual(starts, [1, 5, 18, 41, 84, 167, 330])
  assert.include(podRun.log, "8 Running: CrashLoopBackOff #1")
  assert.deepInclude(podRun.pod.status?.containerStatuses?.[0], { restartCount: 6 })
  assert.strictEqual(podRun.pod.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1)
  assert.match(
    podRun.pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? "",
    /^back-off 5m0s restarting failed/
  )
  runUntil(podRun, 2_000_000)
  const later = podRun.log.filter((one) => one.includes("ready")).map((one) => Number(one.split(" ")[0]))
  assert.deepStrictEqual(later.slice(6), [330, 633, 936, 1239, 1542, 1845])
})

it("the back-off of a container that ran for more than ten minutes is reset", () => {
  const podRun = runUntil(newRun(podOf({ spec: command("exit 1") })), 100_000)
  podRun.pod = { ...podRun.pod, metadata: { ...podRun.pod.metadata, annotations: { "simulation/exit": "c=1@700" } } }
  const { length } = podRun.log
  runUntil(podRun, 2_600_000)
  const starts = podRun.log.slice(length).filter((one) => one.includes("ready"))
  const seconds = starts.map((one) => Number(one.split(" ")[0]))
  assert.strictEqual(seconds[1]! - seconds[0]!, 701)
  assert.strictEqual(seconds[2]! - seconds[1]!, 701)
})

it("the restart policy decides about restarts, and the containers decide the phase", () => {
  const run = (text: string, restartPolicy: string) =>
    runUntil(newRun(podOf({ spec: command(text, { restartPolicy }) })), 9_000)
  assert.deepStrictEqual(run("sleep 3", "Never").log.at(-1), "4 Succeeded: exit 0")
  assert.deepStrictEqual(run("exit 3", "Never").log.at(-1), "1 Failed: exit 3")
  assert.deepStrictEqual(run("sleep 3", "OnFailure").log.at(-1), "4 Succeeded: exit 0")
  assert.deepStrictEqual(run("sleep 6", "Always").log.at(-1), "8 Running: ready #1")
  const failing = run("sleep 2; false", "OnFailure")
  assert.include(failing.log, "3 Running: exit 1")
  assert.strictEqual(failing.log.at(-1), "6 Running: CrashLoopBackOff #1")
  const done = run("sleep 3", "Never")
  assert.deepInclude(condition(done, "Ready"), { status: "False", reason: "PodCompleted" })
  assert.deepInclude(condition(done, "Initialized"), { status: "True" })
})

it("init containers run one after another, and sidecars beside the rest", () => {
  const spec = {
    restartPolicy: "Never",
    initContainers: [
      { name: "first", image: "i", command: ["sleep", "2"] },
      { name: "proxy", image: "i", restartPolicy: "Always", startupProbe: { initialDelaySeconds: 1 } },
      { name: "second", image: "i", command: ["true"] }
    ],
    containers: [{ name: "c", image: "i", command: ["sleep", "5"] }]
  }
  const podRun = runUntil(newRun(podOf({ spec })), 60_000)
  assert.deepStrictEqual(podRun.log, [
    "0 Pending: PodInitializing, PodInitializing, PodInitializing, PodInitializing",
    "1 Pending: running, PodInitializing, PodInitializing, PodInitializing",
    "3 Pending: exit 0, PodInitializing, PodInitializing, PodInitializing",
    "4 Pending: exit 0, running, PodInitializing, PodInitializing",
    "5 Pending: exit 0, ready, running, PodInitializing",
    "5 Pending: exit 0, ready, exit 0, PodInitializing",
    "6 Running: exit 0, ready, exit 0, ready",
    "11 Succeeded: exit 0, exit 0, exit 0, exit 0"
  ])
  assert.strictEqual(condition(podRun, "Initialized")?.lastTransitionTime, "1970-01-01T00:00:05Z")
})

it("a pod fails with an init container that is not restarted, and restarts it otherwise", () => {
  const spec = (restartPolicy: string) => ({
    restartPolicy,
    initContainers: [{ name: "first", image: "i", command: ["false"] }]
  })
  assert.strictEqual(
    runUntil(newRun(podOf({ spec: spec("Never") })), 60_000).log.at(-1),
    "1 Failed: exit 1, PodInitializing"
  )
  const again = runUntil(newRun(podOf({ spec: spec("Always") })), 60_000)
  assert.strictEqual(again.pod.status?.phase, "Pending")
  assert.include(again.log, "2 Pending: CrashLoopBackOff #1, PodInitializing")
  assert.deepInclude(condition(again, "Initialized"), { status: "False", reason: "ContainersNotInitialized" })
})

it("a bad image is pulled again with an increasing back-off, and the pod runs once the image is changed", () => {
  const podRun = runUntil(newRun(podOf({ spec: { containers: [{ name: "c", image: "bad" }] } })), 80_000)
  const times = (reason: string) =>
    podRun.log.filter((one) => one.includes(reason)).map((one) => Number(one.split(" ")[0]))
  assert.deepStrictEqual(times("ErrImagePull"), [1, 11, 31, 71])
  assert.deepStrictEqual(times("ImagePullBackOff"), [2, 12, 32, 72])
  assert.deepInclude(podRun.reasons, "BackOff")
  const spec = { ...podRun.pod.spec!, containers: [{ name: "c", image: "good" }] }
  podRun.pod = { ...podRun.pod, spec }
  runUntil(podRun, 100_000)
  assert.strictEqual(podRun.log.at(-1), "81 Running: ready")
})

it("a running container whose image is changed is replaced, also if the new image is bad", () => {
  const podRun = runUntil(newRun(podOf()), 10_000)
  podRun.pod = { ...podRun.pod, spec: { ...podRun.pod.spec!, containers: [{ name: "c", image: "j" }] } }
  runUntil(podRun, 20_000)
  assert.deepStrictEqual(podRun.log.slice(2), ["10 Running: exit 0", "11 Running: ready #1"])
  podRun.pod = { ...podRun.pod, spec: { ...podRun.pod.spec!, containers: [{ name: "c", image: "bad" }] } }
  runUntil(podRun, 25_000)
  assert.deepStrictEqual(podRun.log.slice(4), [
    "20 Running: exit 0 #1",
    "21 Running: ErrImagePull #1",
    "22 Running: ImagePullBackOff #1"
  ])
})

it("a pod fails at its active deadline", () => {
  const podRun = runUntil(newRun(podOf({ spec: { activeDeadlineSeconds: 10 } })), 60_000)
  assert.strictEqual(podRun.log.at(-1), "10 Failed: exit 137")
  assert.deepInclude(podRun.pod.status, { reason: "DeadlineExceeded" })
})

const deleted = (podRun: PodRun, grace: number, finalizers: ReadonlyArray<string> = []): PodRun => {
  const deletionTimestamp = Machine.timestamp(podRun.now + grace * 1_000)
  const metadata = { ...podRun.pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace, finalizers }
  return { ...podRun, pod: { ...podRun.pod, metadata }, log: [], reasons: [] }
}

it("a deleted pod is stopped within its grace period, gets its final status, and is then removed", () => {
  const gentle = runUntil(deleted(runUntil(newRun(podOf()), 10_000), 30), 11_999)
  assert.deepStrictEqual([gentle.log, gentle.reasons, gentle.removed], [[], ["Killing"], false])
  runUntil(gentle, 12_000)
  assert.deepStrictEqual([gentle.log, gentle.reasons, gentle.removed], [["12 Succeeded: exit 0"], ["Killing"], true])
  // Stopping takes longer than one second of grace.
  const harsh = runUntil(deleted(runUntil(newRun(podOf()), 10_000), 1), 60_000)
  assert.deepStrictEqual([harsh.log, harsh.removed], [["11 Failed: exit 137"], true])
  // A pod that never started has nothing to stop.
  const early = runUntil(deleted(runUntil(newRun(podOf()), 500), 30), 600)
  assert.deepStrictEqual([early.log, early.removed], [[], true])
})

it("the removal of a pod with finalizers is requested once", () => {
  const held = runUntil(deleted(runUntil(newRun(podOf()), 10_000), 30, ["example.com/hold"]), 60_000)
  assert.isTrue(held.removed)
  const waiting = { ...held, removed: false }
  const metadata = { ...waiting.pod.metadata, deletionGracePeriodSeconds: 0 }
  const still = runUntil({ ...waiting, pod: { ...waiting.pod, metadata } }, 70_000)
  assert.isFalse(still.removed)
})

it("a pod that the kubelet rejects fails before it starts, and a running pod is not rejected", () => {
  const refusal = () => ({ reason: "NodeAffinity", message: "no" })
  const given = { machine, delays, memory: PodLifecycle.nothingKnown, address: () => "x", isBad: () => false, refusal }
  const step = PodLifecycle.next(podOf(), given, 0)
  assert.deepInclude(step.status, { phase: "Failed", reason: "NodeAffinity" })
  const running = runUntil(newRun(podOf()), 5_000)
  assert.isUndefined(PodLifecycle.next(running.pod, given, 5_000).status)
})

it("a pod on the host network has the machine's address, and another pod waits while no address is free", () => {
  const host = runUntil(newRun(podOf({ spec: { hostNetwork: true } })), 5_000)
  assert.strictEqual(host.pod.status?.podIP, "10.0.0.7")
  const full = { machine, delays, memory: PodLifecycle.nothingKnown, address: () => undefined, isBad: () => false }
  const step = PodLifecycle.next(podOf({ status: { startTime: "1970-01-01T00:00:00Z" } }), full, 1_000)
  assert.deepStrictEqual([step.status, step.wake], [undefined, 2_000])
})

it("each address of the pod network is assigned once, until none is left", () => {
  const used = new Set<string>()
  for (let address = Machine.podAddress(machine, used); address !== undefined;) {
    assert.isFalse(used.has(address))
    used.add(address)
    address = Machine.podAddress(machine, used)
  }
  assert.strictEqual(used.size, 253)
})

const commands = ["", "sleep 7", "exit 1", "sleep 3; exit 2", "sleep 900", "true", "server"]
const AnyContainer = Schema.Struct({
  command: Schema.Literals(commands as [string, ...Array<string>]),
  image: Schema.Literals(["good", "bad"]),
  delay: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })),
  stays: Schema.Boolean
})
const AnyPod = Schema.Struct({
  restartPolicy: Schema.Literals(["Always", "OnFailure", "Never"]),
  inits: Schema.Array(AnyContainer).check(Schema.isMaxLength(2)),
  containers: Schema.NonEmptyArray(AnyContainer).check(Schema.isMaxLength(3)),
  deadline: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
  /** Seconds until the kubelet restarts and the image becomes good, and until the pod is deleted. */
  forgets: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 })),
  deletedAfter: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))
})

const specOf = (any: typeof AnyPod.Type) => {
  const container = (one: typeof AnyContainer.Type, name: string, isInit: boolean) => ({
    name,
    image: one.image,
    command: one.command === "" ? [] : ["sh", "-c", one.command],
    readinessProbe: { initialDelaySeconds: one.delay },
    ...(isInit && one.stays ? { restartPolicy: "Always" } : {})
  })
  return {
    restartPolicy: any.restartPolicy,
    initContainers: any.inits.map((one, i) => container(one, `i${i}`, true)),
    containers: any.containers.map((one, i) => container(one, `c${i}`, false)),
    ...(any.deadline < 30 ? { activeDeadlineSeconds: any.deadline + 1 } : {})
  }
}

/** The invariants of a pod's status over time, whatever it runs and whatever happens to its kubelet. */
const holds = (any: typeof AnyPod.Type): void => {
  let isBad = isBadImage
  const podRun = newRun(podOf({ spec: specOf(any) }))
  const counts = new Map<string, number>()
  let finished = false
  for (let rounds = 0; rounds < 3; rounds++) {
    const end = podRun.now + any.forgets * 1_000
    for (let steps = 0; podRun.now <= end; steps++) {
      assert.isBelow(steps, 2_000, "looks without an end")
      const before = podRun.pod.status
      const wake = executeStep(podRun, isBad)
      const { status } = podRun.pod
      if (finished) assert.strictEqual(status, before, "a finished pod changes")
      const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      for (const one of all) {
        assert.isAtLeast(one.restartCount, counts.get(one.name) ?? 0)
        assert.isAtMost(one.restartCount, (counts.get(one.name) ?? 0) + 1)
        counts.set(one.name, one.restartCount)
        const hasInitialized =
          one.state?.terminated?.exitCode === 0 && status?.initContainerStatuses?.includes(one) === true
        if (one.ready) assert.isTrue(hasInitialized || one.state?.running !== undefined, "ready without running")
        assert.strictEqual(Object.keys(one.state ?? {}).length, 1)
      }
      const ready = status?.conditions?.find(({ type }) => type === "Ready")
      if (ready?.status === "True")
        assert.isTrue(
          (status?.containerStatuses ?? []).every((one) => one.ready),
          "Ready before its containers"
        )
      for (const now of status?.conditions ?? []) {
        const then = before?.conditions?.find(({ type }) => type === now.type)
        if (then?.status === now.status) assert.strictEqual(now.lastTransitionTime, then.lastTransitionTime)
      }
      finished = status?.phase === "Succeeded" || status?.phase === "Failed"
      if (finished)
        assert.isTrue(
          all.every(({ state }) => state?.running === undefined),
          "finished while running"
        )
      if (status === before && wake !== undefined) assert.isAbove(wake, podRun.now, "wakes without progress")
      if (wake === undefined) break
      podRun.now = Math.max(podRun.now, wake)
    }
    // The kubelet restarts, and the image is good.
    podRun.now = end
    podRun.memory = PodLifecycle.nothingKnown
    isBad = () => false
  }
  const stopping = runUntil(deleted(podRun, 30), podRun.now + 30_000)
  assert.isTrue(stopping.removed, "not removed within its grace period")
}

it.effect.prop(
  "the invariants of a pod's status hold, whatever it runs",
  { pod: Arbitrary.schema(AnyPod) },
  ({ pod }) => Effect.sync(() => holds(pod))
)
