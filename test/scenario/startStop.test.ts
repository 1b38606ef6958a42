/**
 * The program from start to stop, as a process: without a cluster, then stopped in several ways.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { promisify } from "node:util"
import { Event } from "../../src/kube/resources.ts"
import * as Gateway from "../support/gateway.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

/** Asks it to stop, and returns how it ended and how long that took. */
const stop = Effect.fnUntraced(function* (running: Process.Running, signal: NodeJS.Signals) {
  const began = performance.now()
  yield* running.kill(signal)
  const exited = yield* running.exit
  return { ...exited, took: performance.now() - began }
})

/** Milliseconds until a process that only exits at a signal has ended, here and now. */
const bareExit = Effect.promise(async () => {
  const text = "process.on('SIGTERM', () => process.exit(1)); setInterval(() => {}, 1000); process.stdout.write('.')"
  const child = spawn(process.execPath, ["-e", text], { stdio: ["ignore", "pipe", "ignore"] })
  await once(child.stdout, "data")
  const began = performance.now()
  child.kill("SIGTERM")
  await once(child, "close")
  return performance.now() - began
})

const kubectl = (line: string) =>
  Effect.promise(() =>
    promisify(execFile)("sh", ["-c", line], { env: { PATH: process.env["PATH"], HOME: "/nonexistent" } })
  )

// Alone, because it has a time limit: no other program of this file starts meanwhile.
describe("with nothing configured", () => {
  it.live("logs that once, runs on the embedded cluster, labels and records within 15 s, stops on Ctrl-C", () =>
    Effect.gen(function* () {
      const began = performance.now()
      const running = yield* Process.start([], { CM_CONSOLE_BIND_ADDRESS: "127.0.0.1:0" })
      const [address] = yield* running.says(/^http:\/\/127\.0\.0\.1:\d+\/console\/#token=[\w-]{43}$/m)
      const [command, path = ""] = yield* running.says(/^kubectl --kubeconfig (\S+) get nodes --show-labels$/m)
      assert.strictEqual((yield* Effect.promise(() => stat(path))).mode & 0o777, 0o600)
      const client = yield* Cluster.client(yield* Cluster.accessIn(path))
      const isCount = (event: Event) => event.message?.startsWith("pod count is ") === true
      const event = yield* Cluster.until(client, Event, {}, isCount)
      assert.isBelow(performance.now() - began, 15_000)
      // The first run may come before the sample's pods; the run that recorded the event has labelled the node before.
      const { metadata } = yield* Cluster.labelled(client, undefined)
      assert.match(metadata.labels?.[Cluster.label] ?? "", /^[1-9]\d*$/)
      assert.deepStrictEqual([event.reason, event.type], ["SuccessCalculatePod", "Normal"])
      assert.strictEqual(event.source?.component, "pod_controller")
      if (Process.has("kubectl")) {
        const { stdout } = yield* kubectl(command)
        assert.match(stdout, /hopegi\/pod-count=\d/)
        const { namespace, name } = event.involvedObject
        const described = yield* kubectl(`kubectl --kubeconfig ${path} describe pod -n ${namespace} ${name}`)
        assert.match(described.stdout, /SuccessCalculatePod .*pod_controller +pod count is \d+/)
      }
      const { code, stderr, stdout, took } = yield* stop(running, "SIGINT")
      assert.strictEqual(code, 0)
      assert.isBelow(took, 5000)
      assert.strictEqual(stdout, `${address}\n${command}\n`)
      assert.notInclude(stderr, "token=")
      const lines = stderr.split("\n").slice(0, -1)
      assert.isTrue(
        lines.every((line) => line.startsWith("timestamp=")),
        stderr
      )
      const warnings = lines.filter((line) => !line.includes(" level=INFO "))
      assert.strictEqual(warnings.length, 1, stderr)
      assert.match(warnings[0] ?? "", / level=WARN .*No cluster is configured .*: starting the embedded one/)
      assert.match(stderr, / message="Starting Controller" controller=pod-count$/m)
      assert.isFalse(existsSync(path))
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(running.temporary)), [])
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("with nothing configured, at a signal", () => {
  for (const signal of ["SIGTERM", "SIGHUP"] as const) {
    it.live(`${signal} is an orderly stop too`, () =>
      Effect.gen(function* () {
        const running = yield* Process.start(["--cluster=embedded"])
        yield* running.says(/Starting Controller/)
        const { code, stderr, took } = yield* stop(running, signal)
        assert.strictEqual(code, 0)
        assert.isBelow(took, 10_000)
        assert.notMatch(stderr, /level=(?!INFO)/)
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(running.temporary)), [])
      }).pipe(Effect.scoped)
    )
  }
})

/** A working program, behind a gateway that accepts some requests and never responds. */
const held = Effect.fnUntraced(function* (requests: RegExp, ...args: ReadonlyArray<string>) {
  const { upstream } = yield* Cluster.withOnePod
  let resolveHeld = () => {}
  const isHeld = new Promise<void>((resolve) => (resolveHeld = resolve))
  const hold = (line: string) => requests.test(line)
  const gateway = yield* Gateway.start(upstream, (line) => (hold(line) ? resolveHeld() : undefined))
  gateway.hold = hold
  const kubeconfig = yield* Kubeconfigs.write({ ...gateway })
  const running = yield* Process.start(["--kubeconfig", kubeconfig, ...args])
  yield* Effect.promise(() => isHeld)
  return running
})
const events = /^POST .*\/events/

// Alone as well: starts of other programs of this file would count.
describe("a stop that hangs, with nothing else running", () => {
  it.live("is ended at once by a second signal, with code 1", () =>
    Effect.gen(function* () {
      let fastest = Infinity
      // On a busy machine everything takes as many times longer as the end of a process that does nothing else.
      for (let tries = 0; tries < 4 && fastest > 100; tries++) {
        const idle = yield* bareExit
        const running = yield* held(events)
        yield* running.kill("SIGINT")
        yield* running.says(/Stopping/)
        const { code, took } = yield* stop(running, "SIGTERM")
        assert.strictEqual(code, 1)
        fastest = Math.min(fastest, took / Math.max(1, idle / 10))
      }
      assert.isAtMost(fastest, 100)
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a stop that hangs", () => {
  it.live("is abandoned after --graceful-shutdown-timeout, with code 1 and one line", () =>
    Effect.gen(function* () {
      const running = yield* held(events, "--graceful-shutdown-timeout=4s")
      const { code, stderr, took } = yield* stop(running, "SIGTERM")
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /\neffect-controller-manager: the stop may take 4s, which was not enough; given up: \d+ events\n$/
      )
      assert.isAbove(took, 3400)
      assert.isBelow(took, 6000)
    }).pipe(Effect.scoped)
  )

  it.live("of the recorder takes five seconds at most; then the log says what was lost", () =>
    Effect.gen(function* () {
      const { code, stderr, took } = yield* stop(yield* held(events), "SIGTERM")
      assert.strictEqual(code, 0)
      assert.match(stderr, /level=WARN .*events were not sent before the end/)
      assert.isBelow(took, 8000)
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a stop during a write", () => {
  it.live("gives a write without a response its time, then names its controller and key, with code 1", () =>
    Effect.gen(function* () {
      const { code, stderr, took } = yield* stop(yield* held(/^PATCH /, "--graceful-shutdown-timeout=2s"), "SIGINT")
      assert.strictEqual(code, 1)
      assert.match(
        stderr,
        /\neffect-controller-manager: the stop may take 2s, which was not enough; given up: pod-count\n$/
      )
      assert.isAbove(took, 1400)
      assert.isBelow(took, 5000)
    }).pipe(Effect.scoped)
  )

  for (const flag of ["--shutdown-mode=interrupt", "--graceful-shutdown-timeout=0"]) {
    it.live(`interrupts it at once with ${flag}, without a message`, () =>
      Effect.gen(function* () {
        const { code, stderr, took } = yield* stop(yield* held(/^PATCH /, flag), "SIGINT")
        assert.strictEqual(code, 0, stderr)
        assert.isBelow(took, 5000)
        assert.notMatch(stderr, /level=(?!INFO)/)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is also orderly when its output pipes are closed", () =>
    Effect.gen(function* () {
      const running = yield* Process.start(["--cluster=embedded"])
      yield* running.says(/Starting Controller/)
      yield* running.deafen
      const { code } = yield* stop(running, "SIGTERM")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(running.temporary)), [])
    }).pipe(Effect.scoped)
  )
})

describe.concurrent("a signal during the start", () => {
  it.live("ends the wait for a server that does not respond", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway.start({ server: "https://127.0.0.1:1", ca: "", token: "" }, () => {})
      gateway.hold = () => true
      const running = yield* Process.start(["--kubeconfig", yield* Kubeconfigs.write({ ...gateway })])
      yield* running.says(/Connecting/)
      const { code, took } = yield* stop(running, "SIGINT")
      assert.strictEqual(code, 0)
      assert.isBelow(took, 3000)
    }).pipe(Effect.scoped)
  )
})
