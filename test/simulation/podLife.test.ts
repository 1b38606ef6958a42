import { assert, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Pod } from "../../src/kube/resources.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as PodLife from "../../src/simulation/podLife.ts"

const machine = Machine.make("a", 7, "worker")
const delays: PodLife.Delays = { start: 1_000, stop: 2_000 }

const podOf = (given: { spec?: object; status?: object; metadata?: object } = {}): Pod => ({
  metadata: { name: "p", namespace: "default", uid: "u", ...given.metadata },
  spec: { nodeName: "a", containers: [{ name: "c", image: "i" }], ...given.spec },
  status: { phase: "Pending", ...given.status }
})

interface Life {
  pod: Pod
  now: number
  memory: PodLife.Memory
  removed: boolean
  /** A line for each status written: the second, the phase, and what each container does. */
  readonly log: Array<string>
  readonly reasons: Array<string>
}

const born = (pod: Pod): Life => ({ pod, now: 0, memory: PodLife.nothingKnown, removed: false, log: [], reasons: [] })

const word = ({ ready, restartCount, state }: PodLifeContainer): string => {
  const what =
    state?.waiting?.reason ??
    (state?.terminated !== undefined ? `exit ${state.terminated.exitCode}` : ready ? "ready" : "running")
  return restartCount === 0 ? what : `${what} #${restartCount}`
}
type PodLifeContainer = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number]

const line = ({ now, pod }: Life): string => {
  const words = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(word)
  return `${now / 1_000} ${pod.status?.phase}: ${words.join(", ")}`
}

const isBadImage = (image: string): boolean => image === "bad"

/** One look at the pod, carried out. Yields when to look next, now if something was written. */
const look = (life: Life, isBad: typeof isBadImage): number | undefined => {
  const given = { machine, delays, memory: life.memory, address: () => "10.244.7.2", isBad }
  const step = PodLife.next(life.pod, given, life.now)
  life.memory = step.memory
  life.reasons.push(...step.notes.map(({ reason }) => reason))
  if (step.isRemovable) {
    life.removed = true
    return undefined
  }
  if (step.status === undefined) return step.wake
  life.pod = { ...life.pod, status: step.status }
  life.log.push(line(life))
  return life.now
}

/** Lets time pass until `end`, milliseconds; virtual time jumps from one wake-up to the next. */
const live = (life: Life, end: number): Life => {
  for (let looks = 0; ; looks++) {
    assert.isBelow(looks, 10_000, "looks without an end")
    const wake = look(life, isBadImage)
    if (life.removed || wake === undefined || wake > end) break
    life.now = Math.max(life.now, wake)
  }
  life.now = end
  return life
}

const condition = (life: Life, type: string) => life.pod.status?.conditions?.find((one) => one.type === type)

const command = (text: string, more: object = {}) => ({
  containers: [{ name: "c", image: "i", command: ["sh", "-c", text] }],
  ...more
})

it("leaves pods of others and finished ones alone", () => {
  assert.deepStrictEqual(live(born(podOf({ spec: { nodeName: "b" } })), 5_000).log, [])
  assert.deepStrictEqual(live(born(podOf({ spec: { nodeName: undefined } })), 5_000).log, [])
  for (const phase of ["Succeeded", "Failed"])
    assert.deepStrictEqual(live(born(podOf({ status: { phase } })), 5_000).log, [])
})

it("starts, runs, and says all that a kubelet says", () => {
  const life = live(born(podOf()), 60_000)
  assert.deepStrictEqual(life.log, ["0 Pending: ContainerCreating", "1 Running: ready"])
  assert.deepStrictEqual(life.reasons, ["Pulling", "Pulled", "Created", "Started"])
  assert.deepInclude(life.pod.status, {
    hostIP: "10.0.0.7",
    podIP: "10.244.7.2",
    startTime: "1970-01-01T00:00:00Z",
    qosClass: "BestEffort"
  })
  assert.deepInclude(life.pod.status?.containerStatuses?.[0], {
    containerID: "simulated://u/c/0",
    imageID: "simulated://i",
    started: true,
    restartCount: 0
  })
  const times = Object.fromEntries((life.pod.status?.conditions ?? []).map((one) => [one.type, one.lastTransitionTime]))
  assert.deepStrictEqual(times, {
    PodReadyToStartContainers: "1970-01-01T00:00:01Z",
    Initialized: "1970-01-01T00:00:00Z",
    Ready: "1970-01-01T00:00:01Z",
    ContainersReady: "1970-01-01T00:00:01Z",
    PodScheduled: "1970-01-01T00:00:00Z"
  })
})

it("is ready when its probes have succeeded often enough and its gates are open", () => {
  const readinessProbe = { initialDelaySeconds: 5, periodSeconds: 3, successThreshold: 3 }
  const startupProbe = { initialDelaySeconds: 2 }
  const spec = {
    containers: [{ name: "c", image: "i", readinessProbe, startupProbe }],
    readinessGates: [{ conditionType: "example.com/lb" }]
  }
  const life = live(born(podOf({ spec })), 60_000)
  assert.deepStrictEqual(life.log, [
    "0 Pending: ContainerCreating",
    "1 Running: running",
    "3 Running: running",
    "12 Running: ready"
  ])
  assert.strictEqual(condition(life, "ContainersReady")?.lastTransitionTime, "1970-01-01T00:00:12Z")
  assert.deepInclude(condition(life, "Ready"), { status: "False", reason: "ReadinessGatesNotReady" })
  const gate = { type: "example.com/lb", status: "True" }
  life.pod = { ...life.pod, status: { ...life.pod.status, conditions: [...life.pod.status!.conditions!, gate] } }
  live(life, 61_000)
  assert.deepInclude(condition(life, "Ready"), { status: "True", lastTransitionTime: "1970-01-01T00:01:00Z" })
  assert.deepInclude(condition(life, "example.com/lb"), gate)
  life.pod = { ...life.pod, metadata: { ...life.pod.metadata, annotations: { "simulation/unready": "x, c" } } }
  live(life, 62_000)
  assert.deepInclude(condition(life, "Ready"), { status: "False", reason: "ContainersNotReady" })
})

it("restarts what crashes after 10 s, twice as long each time up to 300 s", () => {
  const life = live(born(podOf({ spec: command("sleep 3; exit 1") })), 400_000)
  const starts = life.log.filter((one) => one.includes("ready")).map((one) => Number(one.split(" ")[0]))
  // The first restart comes at once, that is after the second that starting takes.
  assert.deepStrictEqual(starts, [1, 5, 18, 41, 84, 167, 330])
  assert.include(life.log, "8 Running: CrashLoopBackOff #1")
  assert.deepInclude(life.pod.status?.containerStatuses?.[0], { restartCount: 6 })
  assert.strictEqual(life.pod.status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 1)
  assert.match(
    life.pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? "",
    /^back-off 5m0s restarting failed/
  )
  live(life, 2_000_000)
  const later = life.log.filter((one) => one.includes("ready")).map((one) => Number(one.split(" ")[0]))
  assert.deepStrictEqual(later.slice(6), [330, 633, 936, 1239, 1542, 1845])
})

it("forgets the back-off of a container that ran for more than ten minutes", () => {
  const life = live(born(podOf({ spec: command("exit 1") })), 100_000)
  life.pod = { ...life.pod, metadata: { ...life.pod.metadata, annotations: { "simulation/exit": "c=1@700" } } }
  const { length } = life.log
  live(life, 2_600_000)
  const starts = life.log.slice(length).filter((one) => one.includes("ready"))
  const seconds = starts.map((one) => Number(one.split(" ")[0]))
  assert.strictEqual(seconds[1]! - seconds[0]!, 701)
  assert.strictEqual(seconds[2]! - seconds[1]!, 701)
})

it("obeys the restart policy, and adds containers up to a phase", () => {
  const run = (text: string, restartPolicy: string) =>
    live(born(podOf({ spec: command(text, { restartPolicy }) })), 9_000)
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

it("runs init containers one after another, those that stay beside the rest", () => {
  const spec = {
    restartPolicy: "Never",
    initContainers: [
      { name: "first", image: "i", command: ["sleep", "2"] },
      { name: "proxy", image: "i", restartPolicy: "Always", startupProbe: { initialDelaySeconds: 1 } },
      { name: "second", image: "i", command: ["true"] }
    ],
    containers: [{ name: "c", image: "i", command: ["sleep", "5"] }]
  }
  const life = live(born(podOf({ spec })), 60_000)
  assert.deepStrictEqual(life.log, [
    "0 Pending: PodInitializing, PodInitializing, PodInitializing, PodInitializing",
    "1 Pending: ready, PodInitializing, PodInitializing, PodInitializing",
    "3 Pending: exit 0, PodInitializing, PodInitializing, PodInitializing",
    "4 Pending: exit 0, running, PodInitializing, PodInitializing",
    "5 Pending: exit 0, ready, running, PodInitializing",
    "5 Pending: exit 0, ready, exit 0, PodInitializing",
    "6 Running: exit 0, ready, exit 0, ready",
    "11 Succeeded: exit 0, exit 0, exit 0, exit 0"
  ])
  assert.strictEqual(condition(life, "Initialized")?.lastTransitionTime, "1970-01-01T00:00:05Z")
})

it("fails with an init container that fails for good, and tries others again", () => {
  const spec = (restartPolicy: string) => ({
    restartPolicy,
    initContainers: [{ name: "first", image: "i", command: ["false"] }]
  })
  assert.strictEqual(live(born(podOf({ spec: spec("Never") })), 60_000).log.at(-1), "1 Failed: exit 1, PodInitializing")
  const again = live(born(podOf({ spec: spec("Always") })), 60_000)
  assert.strictEqual(again.pod.status?.phase, "Pending")
  assert.include(again.log, "2 Pending: CrashLoopBackOff #1, PodInitializing")
  assert.deepInclude(condition(again, "Initialized"), { status: "False", reason: "ContainersNotInitialized" })
})

it("waits with a bad image, tries again ever more rarely, and recovers when the image is changed", () => {
  const life = live(born(podOf({ spec: { containers: [{ name: "c", image: "bad" }] } })), 80_000)
  const times = (word: string) => life.log.filter((one) => one.includes(word)).map((one) => Number(one.split(" ")[0]))
  assert.deepStrictEqual(times("ErrImagePull"), [1, 11, 31, 71])
  assert.deepStrictEqual(times("ImagePullBackOff"), [2, 12, 32, 72])
  assert.deepInclude(life.reasons, "BackOff")
  const spec = { ...life.pod.spec!, containers: [{ name: "c", image: "good" }] }
  life.pod = { ...life.pod, spec }
  live(life, 100_000)
  assert.strictEqual(life.log.at(-1), "81 Running: ready")
})

it("replaces a running container whose image is changed, also by a bad one", () => {
  const life = live(born(podOf()), 10_000)
  life.pod = { ...life.pod, spec: { ...life.pod.spec!, containers: [{ name: "c", image: "j" }] } }
  live(life, 20_000)
  assert.deepStrictEqual(life.log.slice(2), ["10 Running: exit 0", "11 Running: ready #1"])
  life.pod = { ...life.pod, spec: { ...life.pod.spec!, containers: [{ name: "c", image: "bad" }] } }
  live(life, 25_000)
  assert.deepStrictEqual(life.log.slice(4), [
    "20 Running: exit 0 #1",
    "21 Running: ErrImagePull #1",
    "22 Running: ImagePullBackOff #1"
  ])
})

it("ends a pod that has been active too long", () => {
  const life = live(born(podOf({ spec: { activeDeadlineSeconds: 10 } })), 60_000)
  assert.strictEqual(life.log.at(-1), "10 Failed: exit 137")
  assert.deepInclude(life.pod.status, { reason: "DeadlineExceeded" })
})

const deleted = (life: Life, grace: number, finalizers: ReadonlyArray<string> = []): Life => {
  const deletionTimestamp = Machine.timestamp(life.now + grace * 1_000)
  const metadata = { ...life.pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace, finalizers }
  return { ...life, pod: { ...life.pod, metadata }, log: [], reasons: [] }
}

it("stops a deleted pod within its grace period, says so, and removes it then", () => {
  const gentle = live(deleted(live(born(podOf()), 10_000), 30), 11_999)
  assert.deepStrictEqual([gentle.log, gentle.reasons, gentle.removed], [[], ["Killing"], false])
  live(gentle, 12_000)
  assert.deepStrictEqual([gentle.log, gentle.reasons, gentle.removed], [["12 Succeeded: exit 0"], ["Killing"], true])
  // One second of grace is less than the stop takes.
  const harsh = live(deleted(live(born(podOf()), 10_000), 1), 60_000)
  assert.deepStrictEqual([harsh.log, harsh.removed], [["11 Failed: exit 137"], true])
  // What never started has nothing to stop.
  const early = live(deleted(live(born(podOf()), 500), 30), 600)
  assert.deepStrictEqual([early.log, early.removed], [[], true])
})

it("asks once for the removal of a pod that finalizers hold", () => {
  const held = live(deleted(live(born(podOf()), 10_000), 30, ["example.com/hold"]), 60_000)
  assert.isTrue(held.removed)
  const waiting = { ...held, removed: false }
  const metadata = { ...waiting.pod.metadata, deletionGracePeriodSeconds: 0 }
  const still = live({ ...waiting, pod: { ...waiting.pod, metadata } }, 70_000)
  assert.isFalse(still.removed)
})

it("refuses what the machine does not take, once, before it starts", () => {
  const refusal = () => ({ reason: "NodeAffinity", message: "no" })
  const given = { machine, delays, memory: PodLife.nothingKnown, address: () => "x", isBad: () => false, refusal }
  const step = PodLife.next(podOf(), given, 0)
  assert.deepInclude(step.status, { phase: "Failed", reason: "NodeAffinity" })
  const running = live(born(podOf()), 5_000)
  assert.isUndefined(PodLife.next(running.pod, given, 5_000).status)
})

it("gives a pod on the host network the machine's address, and waits while there is none", () => {
  const host = live(born(podOf({ spec: { hostNetwork: true } })), 5_000)
  assert.strictEqual(host.pod.status?.podIP, "10.0.0.7")
  const full = { machine, delays, memory: PodLife.nothingKnown, address: () => undefined, isBad: () => false }
  const step = PodLife.next(podOf({ status: { startTime: "1970-01-01T00:00:00Z" } }), full, 1_000)
  assert.deepStrictEqual([step.status, step.wake], [undefined, 2_000])
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
  /** When the kubelet forgets, the image is mended, and the pod is deleted; seconds. */
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
  const life = born(podOf({ spec: specOf(any) }))
  const counts = new Map<string, number>()
  let finished = false
  for (let rounds = 0; rounds < 3; rounds++) {
    const end = life.now + any.forgets * 1_000
    for (let looks = 0; life.now <= end; looks++) {
      assert.isBelow(looks, 2_000, "looks without an end")
      const before = life.pod.status
      const wake = look(life, isBad)
      const { status } = life.pod
      if (finished) assert.strictEqual(status, before, "a finished pod changes")
      const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
      for (const one of all) {
        assert.isAtLeast(one.restartCount, counts.get(one.name) ?? 0)
        assert.isAtMost(one.restartCount, (counts.get(one.name) ?? 0) + 1)
        counts.set(one.name, one.restartCount)
        if (one.ready) assert.isDefined(one.state?.running, "ready without running")
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
      if (status === before && wake !== undefined) assert.isAbove(wake, life.now, "wakes without progress")
      if (wake === undefined) break
      life.now = Math.max(life.now, wake)
    }
    // The kubelet restarts, and the image is there.
    life.now = end
    life.memory = PodLife.nothingKnown
    isBad = () => false
  }
  const stopping = live(deleted(life, 30), life.now + 30_000)
  assert.isTrue(stopping.removed, "not removed within its grace period")
}

it.effect.prop(
  "keeps the invariants of a pod's status, whatever it runs",
  { pod: Arbitrary.schema(AnyPod) },
  ({ pod }) => Effect.sync(() => holds(pod))
)
