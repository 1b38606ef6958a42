/**
 * What a start costs on a cluster where nothing is to be done: the CPU time of the process until it starts the first controller, of one loop and of all core
 * loops. A process before it has left the compiled code, as the image does; one figure is without it. The lower bounds are a Node that does nothing, and a
 * Node that sends one request with undici on as many TLS connections as the program has by then, all as processes that take turns.
 */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawnSync } from "node:child_process"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { tableOf } from "../../test/support/controllers.ts"
import type { Figure } from "../figure.ts"
import * as Stand from "./stand.ts"

const rounds = 11
const bar = 250

/** Every loop that needs no cloud and no key. */
const core = tableOf()
  .filter(
    ({ controller, embeddedOnly, group }) => group === "core" && controller.cloud !== true && embeddedOnly === undefined
  )
  .map(({ controller }) => controller.name)

/** Milliseconds of all threads of a process: `/proc/<pid>/stat` counts hundredths of a second only. */
const cpuOf = ({ pid }: ChildProcess): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / 1e6)
    .reduce((sum, one) => sum + one, 0)

const starting = (kubeconfig: string, loops: ReadonlyArray<string>, build: Stand.Build) =>
  Stand.child(
    [
      `--kubeconfig=${kubeconfig}`,
      "--leader-elect=false",
      "--metrics-bind-address=0",
      "--health-probe-bind-address=0",
      `--controllers=${loops.join(",")}`
    ],
    /Starting Controller/,
    build
  )

/** The TCP connections of a process. */
const connectionsOf = ({ pid }: ChildProcess): number => {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)))
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .filter((line) => sockets.has(`socket:[${line.trim().split(/\s+/)[9]}]`)).length
}

/** The program ends in an order that lets it write its compiled code. Returns its connections at the first controller. */
const prepared = (kubeconfig: string, loops: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(Stand.builds, (build) =>
      Effect.scoped(
        Effect.flatMap(starting(kubeconfig, loops, build), (running) =>
          Effect.promise(async () => {
            const connections = connectionsOf(running)
            const gone = new Promise((resolve) => running.once("exit", resolve))
            running.kill("SIGTERM")
            await gone
            return connections
          })
        )
      )
    ),
    ([connections = 1]) => connections
  )

/** A Node that runs this module, which writes its CPU time at the end. */
const bare = (module: string): number => {
  const end =
    "const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000)); process.exit(0)"
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", `${module}; ${end}`])
  return Number(stdout.toString())
}

/** The first connection leaves a TLS session for the others, as in the program. */
const requests = ({ ca, token, url }: Stand.Server, connections: number): string => `
  import { createSecureContext } from "node:tls"
  import Agent from "undici/lib/dispatcher/agent.js"
  const agent = new Agent({ connect: { secureContext: createSecureContext({ ca: ${JSON.stringify(ca)} }) } })
  const options = { origin: ${JSON.stringify(url)}, path: "/version", method: "GET", headers: { authorization: ${JSON.stringify(`Bearer ${token}`)} } }
  const send = () => new Promise((resolve, reject) =>
    agent.dispatch(options, { onConnect() {}, onHeaders: () => true, onData: () => true, onComplete: resolve, onError: reject })
  )
  await send()
  await Promise.all(Array.from({ length: ${connections - 1} }, send))`

const measure = (where: Stand.Server, loops: ReadonlyArray<string>, isPrepared: boolean) =>
  Effect.gen(function* () {
    const kubeconfig = yield* Stand.kubeconfig(where)
    const variable = "NODE_DISABLE_COMPILE_CACHE"
    const connections = yield* prepared(kubeconfig, loops)
    if (!isPrepared) process.env[variable] = "1"
    const nothing: Array<number> = []
    const request: Array<number> = []
    const { before, now } = yield* Stand.alternately(rounds, (build) =>
      Effect.gen(function* () {
        nothing.push(bare("0"))
        request.push(bare(requests(where, connections)))
        return cpuOf(yield* starting(kubeconfig, loops, build))
      }).pipe(Effect.scoped)
    )
    delete process.env[variable]
    const value = Stand.median(now)
    const floor = Stand.median(request)
    return {
      name: `${loops.length === 1 ? loops[0] : `${loops.length} loops`} to the first controller on ${where.what}${
        isPrepared ? "" : ", nothing compiled before"
      } (${connections} connections; node -e 0: ${Stand.median(nothing).toFixed(0)} ms), ${Stand.load()}`,
      value,
      unit: "ms CPU",
      floor,
      ratio: value / floor,
      before: Stand.median(before),
      bar: isPrepared ? `≤ ${bar} ms` : "none",
      ok: !isPrepared || value <= bar
    } satisfies Figure
  })

const measured = Effect.gen(function* () {
  const where = yield* Stand.server
  return [
    yield* measure(where, ["deployment"], true),
    yield* measure(where, core, true),
    yield* measure(where, ["deployment"], false)
  ]
})

export const run = (): Promise<Array<Figure>> => Effect.runPromise(Effect.scoped(measured))
