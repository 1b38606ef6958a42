/** The console of the program as a process: its printed address, who gets in, and whether its figures are those of the metrics. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Protocol from "../../src/manager/console/protocol.ts"
import * as Process from "../support/process.ts"

const timeout = 60_000

/** The messages of a stream until the condition holds for one of them. */
const until = (url: string, token: string, holds: (message: Protocol.Message) => boolean) =>
  Effect.promise(async () => {
    const abort = new AbortController()
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: abort.signal })
    const decoder = new TextDecoder()
    const all: Array<Protocol.Message> = []
    let rest = ""
    for await (const part of response.body ?? []) {
      const lines = (rest + decoder.decode(part, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      const messages = lines.filter((line) => line !== "").map((line): Protocol.Message => JSON.parse(line))
      all.push(...messages)
      if (messages.some(holds)) break
    }
    abort.abort()
    return all
  })

const text = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { headers })
    return { status: response.status, body: await response.text(), type: response.headers.get("content-type") }
  })

/** The sum of a controller's series. */
const total = (metrics: string, name: string, controller: string): number =>
  Array.from(metrics.matchAll(new RegExp(`^${name}\\{controller="${controller}"[^}]*\\} (\\S+)$`, "gm"))).reduce(
    (sum, [, value]) => sum + Number(value),
    0
  )

describe("the console of a program on the embedded cluster", () => {
  it.live(
    "its address comes first, its page and its data are served, and its figures are those of the metrics",
    () =>
      Effect.gen(function* () {
        const running = yield* Process.start(["--cluster=embedded"], {
          CM_CONSOLE_BIND_ADDRESS: "127.0.0.1:0",
          CM_METRICS_BIND_ADDRESS: "127.0.0.1:0"
        })
        const [, origin = "", token = ""] = yield* running.says(/^(http:\/\/127\.0\.0\.1:\d+)\/console\/#token=(\S+)$/m)
        const [, port] = yield* running.says(/message="Serving metrics" port=(\d+)/)
        const authorization = `Bearer ${token}`

        const page = yield* text(`${origin}/`)
        assert.deepStrictEqual([page.status, page.type], [200, "text/html; charset=utf-8"])
        const files = Array.from(page.body.matchAll(/"(app-[\da-f]+\.(?:js|css))"/g), ([, name]) => name)
        assert.lengthOf(files, 2)
        for (const file of files) {
          const { body, status } = yield* text(`${origin}/console/${file}`)
          assert.strictEqual(status, 200)
          assert.isNotEmpty(body)
        }
        assert.notMatch(page.body, /https?:/)

        for (const path of ["stream", "search?q=dns", "objects/pods/kube-system/dns-1"]) {
          assert.strictEqual((yield* text(`${origin}/console/api/${path}`)).status, 401)
        }

        // All controllers run, and nothing more is to do for the service accounts.
        const messages = yield* until(
          `${origin}/console/api/stream`,
          token,
          (message) =>
            message.type === "controllers" &&
            message.controllers.every(({ state, workers }) => state === "started" && workers > 0) &&
            message.controllers.some(
              ({ name, queue, runs }) => name === "serviceaccount" && runs >= 4 && queue.ready + queue.processing === 0
            )
        )
        const [hello] = messages
        assert.isTrue(hello?.type === "hello" && hello.program.isEmbedded)
        const last = messages.findLast(({ type }) => type === "controllers")
        const { body: metrics } = yield* text(`http://127.0.0.1:${port}/metrics`)
        assert.isTrue(last?.type === "controllers")
        if (last?.type !== "controllers") return
        const account = last.controllers.find(({ name }) => name === "serviceaccount")
        assert.strictEqual(account?.runs, total(metrics, "controller_runtime_reconcile_total", "serviceaccount"))
        assert.strictEqual(
          account?.failures,
          total(metrics, "controller_runtime_reconcile_errors_total", "serviceaccount")
        )
        for (const { name, workers } of last.controllers) {
          assert.strictEqual(workers, total(metrics, "controller_runtime_max_concurrent_reconciles", name), name)
        }

        const cluster = yield* until(
          `${origin}/console/api/stream`,
          token,
          (message) => message.type === "cluster" && message.pods.changed.some(({ key }) => key === "kube-system/dns-2")
        )
        const nodes = cluster.flatMap((message) =>
          message.type === "cluster" ? message.nodes.changed.map(({ name }) => name) : []
        )
        assert.includeMembers(nodes, ["control-plane", "worker-1", "worker-2"])

        const found = yield* text(`${origin}/console/api/search?q=po/kube-system/dns`, { authorization })
        assert.deepStrictEqual(
          (JSON.parse(found.body) as Protocol.SearchResult).found
            .map(({ key, resource }) => `${resource} ${key}`)
            .sort(),
          ["pods kube-system/dns-1", "pods kube-system/dns-2"]
        )
        const seen = yield* text(`${origin}/console/api/objects/pods/kube-system/dns-1`, { authorization })
        assert.isTrue((JSON.parse(seen.body) as Protocol.ObjectView).exists)

        yield* running.kill("SIGTERM")
        const { code, stderr, stdout } = yield* running.exit
        assert.strictEqual(code, 0)
        assert.strictEqual(stdout.split("\n")[0], `${origin}/console/#token=${token}`)
        assert.notInclude(stderr, token)
      }).pipe(Effect.scoped),
    timeout
  )
})
