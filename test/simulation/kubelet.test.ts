import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Pod } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as Machine from "../../src/simulation/Machine.ts"
import * as Nodes from "../../src/simulation/Nodes.ts"
import { condition, create, get, nodes, pass, patch, reasons, remove, settle, word, wordOf } from "./harness.ts"

const one = { machines: [Machine.make("only", 1, "worker")] }

const gone = (name: string) =>
  Effect.map(Effect.flip(get(name)), (error) => assert.isTrue(ApiError.hasReason(error, "NotFound")))

it.effect("the kubelet records the events of a pod that kubectl describe shows", () =>
  Effect.gen(function* () {
    yield* create("a")
    yield* pass("2 seconds")
    yield* remove("a")
    yield* pass("2 seconds")
    assert.deepStrictEqual(yield* reasons("a"), [
      "Normal Scheduled",
      "Normal Pulling",
      "Normal Pulled",
      "Normal Created",
      "Normal Started",
      "Normal Killing"
    ])
    yield* gone("a")
  }).pipe(Effect.provide(nodes()))
)

it.effect("no events are recorded when they are disabled", () =>
  Effect.gen(function* () {
    yield* create("a")
    yield* pass("2 seconds")
    assert.strictEqual(yield* wordOf("a"), "Running")
    assert.deepStrictEqual(yield* reasons("a"), [])
  }).pipe(Effect.provide(nodes({ events: false })))
)

it.effect(
  "an image with the tag 404 or in badImages cannot be pulled, and the pod runs once its image is changed",
  () =>
    Effect.gen(function* () {
      const image = (image: string) => ({ containers: [{ name: "main", image }] })
      yield* create("tag", image("webserver:404"))
      yield* create("listed", image("registry.test:5000/broken:7"))
      yield* create("port", image("registry.test:404/fine"))
      yield* pass("1 seconds")
      assert.strictEqual(yield* wordOf("tag"), "ErrImagePull")
      yield* pass("1 seconds")
      assert.deepStrictEqual(
        [yield* wordOf("tag"), yield* wordOf("listed"), yield* wordOf("port")],
        ["ImagePullBackOff", "ImagePullBackOff", "Running"]
      )
      assert.include(yield* reasons("tag"), "Warning Failed")
      yield* pass("9 seconds")
      assert.strictEqual(yield* wordOf("tag"), "ErrImagePull")
      yield* patch("tag", { spec: { containers: [{ name: "main", image: "webserver:200" }] } })
      yield* pass("1 seconds")
      const pod = yield* get("tag")
      assert.deepStrictEqual([word(pod), condition(pod, "Ready")?.status], ["Running", "True"])
      assert.strictEqual(pod.status?.containerStatuses?.[0]?.image, "webserver:200")
    }).pipe(Effect.provide(nodes({ badImages: ["registry.test:5000/broken"] })))
)

it.effect("containers restart by policy and end by command or annotation, and a watch shows every state", () =>
  Effect.gen(function* () {
    const cache = yield* Cache
    const seen: Array<string> = []
    yield* cache.changes(Pod).pipe(
      Stream.runForEach(({ object }) =>
        Effect.sync(() => {
          const now = word(object)
          if (object.metadata.name === "crash" && seen.at(-1) !== now) seen.push(now)
        })
      ),
      Effect.forkScoped
    )
    const command = (text: string, more: object = {}) => ({
      containers: [{ name: "main", image: "i", command: ["sh", "-c", text] }],
      ...more
    })
    yield* create("crash", command("sleep 3; exit 1"))
    yield* create("job", command("sleep 5", { restartPolicy: "Never" }))
    yield* create("bad", {}, { annotations: { "simulation/exit": "main=7@2" } })
    yield* pass("20 seconds")
    assert.deepStrictEqual(seen, [
      "Pending",
      "ContainerCreating",
      "Running",
      "Error",
      "Running #1",
      "Error #1",
      "CrashLoopBackOff #1",
      "Running #2"
    ])
    const job = yield* get("job")
    assert.strictEqual(job.status?.phase, "Succeeded")
    const { terminated } = job.status?.containerStatuses?.[0]?.state ?? {}
    assert.deepInclude(terminated, {
      exitCode: 0,
      startedAt: "1970-01-01T00:00:01Z",
      finishedAt: "1970-01-01T00:00:06Z"
    })
    assert.strictEqual((yield* get("bad")).status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 7)
    assert.include(yield* reasons("crash"), "Warning BackOff")
  }).pipe(Effect.provide(nodes()))
)

it.effect(
  "a pod becomes ready after the delay of its probe, and its conditions have the times of their transitions",
  () =>
    Effect.gen(function* () {
      const readinessProbe = { initialDelaySeconds: 5, httpGet: { path: "/", port: 80 } }
      yield* create("a", { containers: [{ name: "main", image: "i", readinessProbe }] })
      yield* pass("5 seconds")
      assert.strictEqual(condition(yield* get("a"), "Ready")?.status, "False")
      yield* pass("1 seconds")
      const ready = yield* get("a")
      assert.deepInclude(condition(ready, "Ready"), { status: "True", lastTransitionTime: "1970-01-01T00:00:06Z" })
      assert.deepInclude(condition(ready, "PodScheduled"), {
        status: "True",
        lastTransitionTime: "1970-01-01T00:00:00Z"
      })
      yield* patch("a", { metadata: { annotations: { "simulation/unready": "main" } } })
      yield* settle
      assert.deepInclude(condition(yield* get("a"), "Ready"), { status: "False", reason: "ContainersNotReady" })
    }).pipe(Effect.provide(nodes()))
)

it.effect("the kubelet keeps conditions of other writers, and waits for those that are readiness gates", () =>
  Effect.gen(function* () {
    yield* create("a", { readinessGates: [{ conditionType: "example.com/lb" }] })
    yield* pass("1 seconds")
    assert.deepInclude(condition(yield* get("a"), "Ready"), { status: "False", reason: "ReadinessGatesNotReady" })
    yield* patch("a", { status: { conditions: [{ type: "example.com/lb", status: "True" }] } }, "status")
    yield* settle
    assert.strictEqual(condition(yield* get("a"), "Ready")?.status, "True")
    assert.strictEqual(condition(yield* get("a"), "example.com/lb")?.status, "True")
  }).pipe(Effect.provide(nodes()))
)

it.effect("a stopped pod stays until its finalizers are removed", () =>
  Effect.gen(function* () {
    yield* create("a", {}, { finalizers: ["example.com/hold"] })
    yield* pass("2 seconds")
    yield* remove("a")
    yield* pass("1 minute")
    const held = yield* get("a")
    assert.deepStrictEqual([held.status?.phase, held.metadata.deletionGracePeriodSeconds], ["Succeeded", 0])
    const server = yield* ApiServer
    const before = yield* server.revision
    yield* patch("a", { metadata: { finalizers: null } })
    yield* gone("a")
    yield* settle
    assert.strictEqual(yield* server.revision, before + 1)
  }).pipe(Effect.provide(nodes({ events: false })))
)

it.effect("a pod that was bound without the scheduler runs, unless its selector or a taint excludes the node", () =>
  Effect.gen(function* () {
    yield* create("direct", { nodeName: "tainted" })
    yield* create("foreign", { nodeName: "tainted", nodeSelector: { disk: "ssd" } })
    yield* create("evicted", { nodeName: "evicting" })
    yield* pass("2 seconds")
    assert.deepStrictEqual([yield* wordOf("direct"), (yield* get("direct")).spec?.nodeName], ["Running", "tainted"])
    assert.deepInclude((yield* get("foreign")).status, { phase: "Failed", reason: "NodeAffinity" })
    assert.deepInclude((yield* get("evicted")).status, { phase: "Failed", reason: "TaintToleration" })
    const asking = (cpu: string) => ({
      nodeName: "tainted",
      containers: [{ name: "main", image: "i", resources: { requests: { cpu } } }]
    })
    for (const name of ["first", "second"]) yield* create(name, asking("3"))
    yield* pass("2 seconds")
    assert.strictEqual(yield* wordOf("first"), "Running")
    assert.deepInclude((yield* get("second")).status, { phase: "Failed", reason: "OutOfcpu" })
    yield* remove("first")
    yield* pass("2 seconds")
    yield* create("third", asking("3"))
    yield* pass("2 seconds")
    assert.strictEqual(yield* wordOf("third"), "Running")
  }).pipe(
    Effect.provide(
      nodes({
        machines: [
          Machine.make("tainted", 1, "worker", { taints: [{ key: "a", effect: "NoSchedule" }] }),
          Machine.make("evicting", 2, "worker", { taints: [{ key: "a", effect: "NoExecute" }] })
        ]
      })
    )
  )
)

it.effect("the address of a pod that has ended is free again", () =>
  Effect.gen(function* () {
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 100; i++) {
        const command = ["true"]
        yield* create(`p${round}-${i}`, { containers: [{ name: "main", image: "i", command }], restartPolicy: "Never" })
      }
      yield* pass("3 seconds")
      assert.strictEqual((yield* get(`p${round}-99`)).status?.phase, "Succeeded")
    }
  }).pipe(Effect.provide(nodes({ ...one, events: false })))
)

it.effect("pods end in the same state when requests are refused, conflict, are cut or are answered late", () =>
  Effect.gen(function* () {
    const server = yield* ApiServer
    const rule = (match: object, fault: object, times: number) => ({ match, fault, times }) as never
    yield* server.setFaults([
      rule({ verb: "patch", resource: "pods/status" }, { _tag: "Status", code: 409, reason: "Conflict" }, 3),
      rule({ verb: "patch" }, { _tag: "DropAnswer" }, 4),
      rule({ verb: "create" }, { _tag: "Status", code: 500 }, 2)
    ])
    yield* Effect.retry(create("a"), { times: 3 })
    yield* create("b")
    yield* pass("1 minute")
    assert.deepStrictEqual([yield* wordOf("a"), yield* wordOf("b")], ["Running", "Running"])
    yield* remove("a")
    yield* pass("1 minute")
    yield* gone("a")
  }).pipe(Effect.provide(nodes({ events: false })))
)

it.effect("a stopped kubelet sends nothing, and takes over its pods when it is started", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    const server = yield* ApiServer
    yield* create("a")
    yield* create("job", {
      containers: [{ name: "main", image: "i", command: ["sleep", "60"] }],
      restartPolicy: "Never"
    })
    yield* pass("2 seconds")
    yield* all.stop("only")
    yield* settle
    yield* remove("a")
    const before = yield* server.revision
    yield* pass("5 minutes")
    assert.strictEqual(yield* server.revision, before, "a stopped kubelet writes")
    assert.isDefined((yield* get("a")).metadata.deletionTimestamp)
    yield* all.start("only")
    yield* settle
    yield* gone("a")
    const job = yield* get("job")
    assert.strictEqual(job.status?.phase, "Succeeded")
    // It ended before it was observed.
    assert.strictEqual(job.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt, "1970-01-01T00:01:01Z")
  }).pipe(Effect.provide(nodes({ ...one, events: false })))
)

it.effect("a restarted kubelet starts crashing containers without a back-off, because back-offs are not stored", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    yield* create("a", { containers: [{ name: "main", image: "i", command: ["false"] }] })
    yield* pass("60 seconds")
    assert.match(yield* wordOf("a"), /^CrashLoopBackOff/)
    const before = (yield* get("a")).status?.containerStatuses?.[0]?.restartCount ?? 0
    yield* all.stop("only")
    yield* all.start("only")
    yield* settle
    assert.strictEqual((yield* get("a")).status?.containerStatuses?.[0]?.restartCount, before + 1)
  }).pipe(Effect.provide(nodes({ ...one, events: false })))
)

it.effect("starting and stopping take longer on a slow machine, and stopping never longer than the grace period", () =>
  Effect.gen(function* () {
    const all = yield* Nodes.Nodes
    yield* all.slow("only", 20)
    yield* create("a")
    yield* pass("19 seconds")
    assert.strictEqual(yield* wordOf("a"), "ContainerCreating")
    yield* pass("1 seconds")
    assert.strictEqual(yield* wordOf("a"), "Running")
    yield* remove("a", { gracePeriodSeconds: 5 })
    yield* pass("4 seconds")
    assert.strictEqual(yield* wordOf("a"), "Running")
    yield* pass("1 seconds")
    yield* gone("a")
    assert.deepStrictEqual(
      (yield* all.machines).map(({ isRunning, machine, slowness }) => [machine.name, isRunning, slowness]),
      [["only", true, 20]]
    )
  }).pipe(Effect.provide(nodes(one)))
)
