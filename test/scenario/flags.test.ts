/**
 * Flags that operators write into manifests, and their effect, as processes: which controllers run, what is logged and how, and which ports are
 * open.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { generateKeyPairSync } from "node:crypto"
import { readdir, readFile, readlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"

const keyFile = Effect.flatMap(Process.folder, (folder) =>
  Effect.promise(async () => {
    const path = join(folder, "sa.key")
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    await writeFile(path, privateKey.export({ type: "pkcs8", format: "pem" }))
    return path
  })
)

const timeout = 90_000

/** Names below a heading of the help, up to the next one. */
const named = (help: string, heading: string): ReadonlyArray<string> => {
  const [, after = ""] = help.split(`Controllers that are on by default${heading}`)
  const [paragraph = ""] = after.split("\n\n")
  return Array.from(paragraph.matchAll(/^ {2}([\w-]+) {2}/gm), ([, name = ""]) => name)
}

const started = (said: string): ReadonlyArray<string> =>
  Array.from(said.matchAll(/Starting Controller" controller=(\S+)/g), ([, name = ""]) => name)

/**
 * One example of each case: the loop that starts before all others, an alias, our own controller, and one whose kinds come with it. That every
 * name selects itself and nothing else is tested in `cli/selection.test.ts`, without a process for each.
 */
const sample = [
  ["serviceaccount-token", "serviceaccount-token"],
  ["endpoints-controller", "endpoint"],
  ["pod-count", "pod-count"],
  ["memcached", "memcached"]
] as const

describe("--controllers", () => {
  it.live(
    "with a minus leaves one out and logs it; with names it runs those and no others, under all their names",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Cluster.apiserver
        const base = [
          "--kubeconfig",
          kubeconfig,
          "--leader-elect=false",
          // Without a key the loop that creates tokens is off.
          `--service-account-private-key-file=${yield* keyFile}`
        ]
        const { stdout: help } = yield* Process.run(["--help"])
        const ours = named(help, ":\n")
        // A loop that needs a cloud is refused without one.
        const core = named(help, " on the embedded").filter((name) => name !== "cloud-node-lifecycle")
        const [first = ""] = core
        assert.isAtLeast(core.length, 7)
        assert.deepStrictEqual(ours, ["pod-count"])
        // Controllers with kinds of their own wait for them.
        const install = ["crds", "install", "--kubeconfig", kubeconfig, `--controllers=${core.join(",")}`]
        assert.strictEqual((yield* Process.run(install)).code, 0)

        const without = yield* Process.start([...base, `--controllers=*,${first},-pod-count`])
        yield* without.says(/message="\\?"?\\?"pod-count\\?" is disabled/)
        yield* without.says(new RegExp(`Starting Controller" controller=${first}`))
        assert.deepStrictEqual(started(without.said()), [first])

        const everyone = yield* Process.start([...base, `--controllers=${[...core, ...ours].join(",")}`])
        for (const name of [...core, ...ours])
          yield* everyone.says(new RegExp(`Starting Controller" controller=${name}\n`))
        assert.sameMembers([...started(everyone.said())], [...core, ...ours])
        assert.match(everyone.said(), /message="\\?"?\\?"cloud-node-lifecycle\\?" is disabled/)

        const alone = Effect.fnUntraced(function* (name: string, controller: string) {
          const running = yield* Process.start([...base, `--controllers=${name}`])
          yield* running.says(/Starting Controller/)
          yield* running.kill("SIGTERM")
          const { code, stderr } = yield* running.exit
          assert.strictEqual(code, 0, stderr)
          assert.deepStrictEqual(started(stderr), [controller])
          for (const other of [...ours, ...core])
            assert.strictEqual(stderr.includes(`"${other}\\" is disabled`), other !== controller, `${other}\n${stderr}`)
        }, Effect.scoped)
        yield* Effect.forEach(sample, ([name, controller]) => alone(name, controller), {
          concurrency: 2,
          discard: true
        })
      }).pipe(Effect.scoped),
    timeout
  )
})

/** What the program logs from its start to its stop, with these flags. */
const logged = (...flags: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    // The test's environment must not set the format of lines.
    const running = yield* Process.start(
      ["--cluster=embedded", "--controllers=serviceaccount,pod-count", "--metrics-bind-address=127.0.0.1:0", ...flags],
      { CM_ZAP_ENCODER: "" }
    )
    yield* running.says(/kubectl --kubeconfig/)
    yield* running.says(/./)
    return running
  })

const linesOf = (running: Process.Running, last: RegExp) =>
  Effect.gen(function* () {
    yield* running.says(last)
    yield* running.kill("SIGTERM")
    const { code, stderr } = yield* running.exit
    assert.strictEqual(code, 0, stderr)
    return stderr.split("\n").slice(0, -1)
  })

const parsed = (lines: ReadonlyArray<string>) => lines.map((line) => JSON.parse(line) as Record<string, unknown>)

describe("flags of the log", () => {
  it.live(
    "json and debug: the known lines, in their order, with their keys; pods are named at debug only",
    () =>
      Effect.gen(function* () {
        const running = yield* logged("--zap-encoder=json", "--zap-log-level=debug", "--zap-time-encoding=epoch")
        const lines = parsed(yield* linesOf(running, /"Counted pods".*[1-9]/))
        for (const { level, msg, ts } of lines) {
          assert.isTrue(typeof ts === "number" && typeof level === "string" && typeof msg === "string")
        }
        const ofOne = lines.filter(({ controller }) => controller === "serviceaccount")
        const framing = ofOne.filter(({ msg }) =>
          /^(?:Starting|Stopping) (?:Controller|EventSource|workers)$/.test(String(msg))
        )
        assert.deepStrictEqual(
          [...new Set(framing.map(({ msg }) => msg))],
          ["Starting Controller", "Starting EventSource", "Starting workers", "Stopping workers"]
        )
        assert.match(
          String(framing.find(({ msg }) => msg === "Starting EventSource")?.["source"]),
          /^kind source: \w+$/
        )
        assert.strictEqual(framing.find(({ msg }) => msg === "Starting workers")?.["worker count"], 1)
        const counted = lines.find(({ count, msg }) => msg === "Counted pods" && count !== "0")
        assert.match(String(counted?.["pods"]), /^[\w-]+\/[\w-]+/)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "info without a format: lines for people on the embedded cluster, without pods and sources; devel shows them",
    () =>
      Effect.gen(function* () {
        const [plain, devel] = yield* Effect.all(
          [
            Effect.flatMap(logged(), (running) => linesOf(running, /Starting Controller" controller=pod-count/)),
            Effect.flatMap(logged("--zap-devel", "--zap-time-encoding=rfc3339"), (running) =>
              linesOf(running, /Counted pods/)
            )
          ],
          { concurrency: 2 }
        )
        assert.isTrue(
          plain.every((line) => /^timestamp=\S+Z level=(?:INFO|WARN) /.test(line)),
          plain.join("\n")
        )
        assert.notMatch(plain.join("\n"), /Counted pods|EventSource|Starting workers/)
        assert.match(devel.join("\n"), /level=DEBUG .*Starting EventSource/)
        assert.match(devel[0] ?? "", /\d{2}:\d{2}:\d{2}Z/)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "error: no lines when nothing fails; the name of the cluster is logged when it connects",
    () =>
      Effect.gen(function* () {
        const silent = yield* logged("--zap-log-level=error")
        yield* silent.kill("SIGTERM")
        const { code, stderr } = yield* silent.exit
        assert.deepStrictEqual([code, stderr], [0, ""])
        const connected = yield* Process.start([
          "--kubeconfig",
          yield* Cluster.apiserver,
          "--cluster-name=blue",
          "--controllers=pod-count"
        ])
        yield* connected.says(/message=Connecting cluster=blue /)
      }).pipe(Effect.scoped),
    timeout
  )
})

/** The process with this temporary directory. */
const pidOf = async (temporary: string): Promise<string> => {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")
    if (environment.includes(`TMPDIR=${temporary}\0`)) return pid
  }
  throw new Error(`no process has TMPDIR=${temporary}`)
}

/** Ports on which it listens. */
const listening = (running: Process.Running) =>
  Effect.promise(async () => {
    const pid = await pidOf(running.temporary)
    const links = await Promise.all(
      (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => ""))
    )
    const inodes = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []))
    const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8")))
    return tables
      .flatMap((table) => table.split("\n").slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = ""]) => state === "0A" && inodes.has(inode))
      .map(([, local = ""]) => Number.parseInt(local.split(":")[1] ?? "", 16))
  })

describe("--metrics-addr", () => {
  it.live(
    "is the old name of --metrics-bind-address; 0 opens no port at all",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Cluster.apiserver
        const base = ["--kubeconfig", kubeconfig, "--controllers=pod-count"]
        const open = yield* Process.start([...base, "--metrics-addr=127.0.0.1:0"])
        const [, port = ""] = yield* open.says(/message="Serving metrics" port=(\d+)/)
        const answer = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`))
        assert.strictEqual(answer.status, 200)
        assert.include(yield* Effect.promise(() => answer.text()), "controller_runtime_reconcile_total")
        assert.deepStrictEqual(yield* listening(open), [Number(port)])
        const closed = yield* Process.start([...base, "--metrics-addr=0", "--health-probe-bind-address=0"])
        yield* closed.says(/Starting Controller/)
        assert.deepStrictEqual(yield* listening(closed), [])
      }).pipe(Effect.scoped),
    timeout
  )
})
