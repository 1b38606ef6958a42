import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Pod } from "../../src/kube/resources.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { create, get, nodes, pass, patch, reasons, remove, word, wordOf } from "./harness.ts"

const container = (name: string, more: object = {}) => ({ name, image: `example.test/${name}:1`, ...more })

/** A pod as the Job controller creates it. */
const createOfJob = (name: string, spec: object = {}, annotations: object = {}) =>
  create(
    name,
    { restartPolicy: "Never", containers: [container("main")], ...spec },
    {
      annotations,
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "job", uid: "1", controller: true }]
    }
  )

const phaseOf = (name: string) => Effect.map(get(name), ({ status }) => status?.phase)

const annotate = (name: string, annotations: object) => patch(name, { metadata: { annotations } })

it.effect("plain init containers end one after another, and then the pod runs", () =>
  Effect.gen(function* () {
    yield* create("a", {
      initContainers: [
        container("one"),
        container("two", { command: ["sh", "-c", "until nslookup db; do sleep 2; done"] })
      ]
    })
    yield* pass("2 seconds")
    const early = yield* get("a")
    assert.deepStrictEqual(
      early.status?.initContainerStatuses?.map(({ ready, state }) => [ready, Object.keys(state ?? {})]),
      [
        [true, ["terminated"]],
        [false, ["waiting"]]
      ]
    )
    yield* pass("5 seconds")
    assert.strictEqual(yield* phaseOf("a"), "Running")
    assert.strictEqual(yield* wordOf("a"), "Running")
  }).pipe(Effect.provide(nodes()))
)

it.effect("an init container with an endless command holds its pod, until the annotation ends it", () =>
  Effect.gen(function* () {
    yield* create("a", { initContainers: [container("wait", { command: ["sleep", "infinity"] })] })
    yield* pass("1 hour")
    assert.strictEqual(yield* phaseOf("a"), "Pending")
    yield* annotate("a", { "simulation/exit": "wait=0" })
    yield* pass("2 seconds")
    assert.strictEqual(yield* phaseOf("a"), "Running")
  }).pipe(Effect.provide(nodes()))
)

it.effect(
  "the containers of a Job's pod end well after a moment and its sidecar with them, but those of a bare pod run on",
  () =>
    Effect.gen(function* () {
      const sidecar = container("proxy", { restartPolicy: "Always" })
      yield* createOfJob("task", { initContainers: [sidecar] })
      yield* createOfJob("long", { containers: [container("main", { command: ["sleep", "infinity"] })] })
      yield* create("bare", { restartPolicy: "Never" })
      yield* pass("2 seconds")
      const running = yield* get("task")
      assert.isDefined(running.status?.initContainerStatuses?.[0]?.state?.running)
      yield* pass("10 seconds")
      const task = yield* get("task")
      assert.strictEqual(task.status?.phase, "Succeeded")
      assert.strictEqual(task.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0)
      assert.isDefined(task.status?.initContainerStatuses?.[0]?.state?.terminated)
      yield* pass("1 hour")
      assert.deepStrictEqual([yield* phaseOf("long"), yield* phaseOf("bare")], ["Running", "Running"])
    }).pipe(Effect.provide(nodes()))
)

it.effect("a container above its memory limit is OOMKilled, again and again", () =>
  Effect.gen(function* () {
    const limited = container("main", { resources: { limits: { memory: "128Mi" } } })
    yield* create("a", { containers: [limited] }, { annotations: { "simulation/memory": "main=200Mi@3" } })
    yield* pass("4 seconds")
    const { state, lastState } = (yield* get("a")).status?.containerStatuses?.[0] ?? {}
    assert.deepInclude(state?.terminated ?? lastState?.terminated, { exitCode: 137, reason: "OOMKilled" })
    yield* pass("8 seconds")
    assert.strictEqual(yield* wordOf("a"), "CrashLoopBackOff #1")
    yield* annotate("a", { "simulation/memory": "main=100Mi" })
    yield* pass("1 minute")
    assert.strictEqual(yield* wordOf("a"), "Running #2")
  }).pipe(Effect.provide(nodes()))
)

it.effect(
  "a container is restarted when its liveness probe has failed often enough, with the events of a kubelet",
  () =>
    Effect.gen(function* () {
      const times = { initialDelaySeconds: 3, periodSeconds: 5, failureThreshold: 2 }
      const livenessProbe = { ...times, httpGet: { port: 80 } }
      yield* create(
        "a",
        { containers: [container("main", { livenessProbe }), container("side")] },
        { annotations: { "simulation/unlive": "main=10,side=1" } }
      )
      yield* create("b", {
        containers: [container("main", { livenessProbe: { ...times, exec: { command: ["false"] } } })]
      })
      // The probes of 13 s and 18 s after the start fail.
      yield* pass("18 seconds")
      assert.strictEqual((yield* get("a")).status?.containerStatuses?.[0]?.restartCount, 0)
      yield* pass("4 seconds")
      const [main, side] = (yield* get("a")).status?.containerStatuses ?? []
      assert.deepInclude(main, { restartCount: 1, ready: true })
      assert.deepInclude(main?.lastState?.terminated, { exitCode: 137, reason: "Error" })
      assert.strictEqual(side?.restartCount, 0)
      assert.includeMembers([...(yield* reasons("a"))], ["Warning Unhealthy", "Normal Killing"])
      // Probes of 3 s and 8 s after the start.
      assert.strictEqual(yield* wordOf("b"), "CrashLoopBackOff #1")
      yield* annotate("a", { "simulation/unlive": null })
      yield* pass("10 minutes")
      assert.strictEqual(yield* wordOf("a"), "Running #1")
    }).pipe(Effect.provide(nodes()))
)

it.effect("a container that crashes a number of times runs on afterwards", () =>
  Effect.gen(function* () {
    yield* create("a", {}, { annotations: { "simulation/exit": "main=1@1x2" } })
    yield* pass("10 minutes")
    assert.strictEqual(yield* wordOf("a"), "Running #2")
  }).pipe(Effect.provide(nodes()))
)

it.effect("annotations delay the start and the readiness of a container", () =>
  Effect.gen(function* () {
    const annotations = { "simulation/start": "main=30", "simulation/ready": "main=20" }
    yield* create("a", {}, { annotations })
    const isReady = Effect.map(get("a"), ({ status }) => status?.containerStatuses?.[0]?.ready)
    yield* pass("29 seconds")
    assert.strictEqual(yield* wordOf("a"), "ContainerCreating")
    yield* pass("2 seconds")
    assert.strictEqual(yield* wordOf("a"), "Running")
    assert.isFalse(yield* isReady)
    yield* pass("20 seconds")
    assert.isTrue(yield* isReady)
  }).pipe(Effect.provide(nodes()))
)

it.effect("an ephemeral container is started beside the others, is not restarted, and ends with its pod", () =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    yield* create("a")
    yield* pass("5 seconds")
    const debug = (ephemeralContainers: ReadonlyArray<object>) =>
      client.patch(
        Pod,
        { namespace: "default", name: "a", subresource: "ephemeralcontainers" },
        { type: "strategic", body: { spec: { ephemeralContainers } } }
      )
    yield* debug([{ name: "shell", image: "busybox", stdin: true, tty: true, targetContainerName: "main" }])
    yield* pass("1 second")
    const first = (yield* get("a")).status?.ephemeralContainerStatuses
    assert.deepStrictEqual(
      first?.map(({ name, ready, state }) => [name, ready, Object.keys(state ?? {})]),
      [["shell", false, ["running"]]]
    )
    yield* debug([
      { name: "failing", image: "busybox", command: ["false"] },
      { name: "missing", image: "tools:404" }
    ])
    yield* pass("1 minute")
    const pod = yield* get("a")
    const states = pod.status?.ephemeralContainerStatuses?.map(({ name, restartCount, state }) => [
      name,
      restartCount,
      state?.terminated?.exitCode ?? state?.waiting?.reason ?? "running"
    ])
    assert.sameDeepMembers(states ?? [], [
      ["shell", 0, "running"],
      ["failing", 0, 1],
      ["missing", 0, "ImagePullBackOff"]
    ])
    assert.strictEqual(word(pod), "Running")
    assert.strictEqual(pod.status?.conditions?.find(({ type }) => type === "Ready")?.status, "True")
    assert.include(yield* reasons("a"), "Warning Failed")
    yield* remove("a")
    yield* pass("2 seconds")
    assert.deepStrictEqual((yield* client.list(Pod)).items, [])
  }).pipe(Effect.provide(nodes()))
)
