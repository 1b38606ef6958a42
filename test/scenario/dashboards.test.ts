/** The dashboards against `/metrics` of a running program: each query uses metrics and labels that it serves, and returns data. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parse } from "yaml"
import { table } from "../support/controllers.ts"
import * as Read from "../support/dashboards.ts"
import * as Exposition from "../support/exposition.ts"
import * as Process from "../support/process.ts"
import * as Promtool from "../support/promtool.ts"

const timeout = 90_000

/** At most 40 s. */
const tries = 400

const scrape = (port: number): Effect.Effect<string> =>
  Effect.promise(() => fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text()))

/** The dashboards that the command writes, by the ends of the names of their files. */
const written = Effect.gen(function* () {
  const folder = yield* Process.folder
  const { code, stderr, stdout } = yield* (yield* Process.start(["dashboards", `--out=${join(folder, "new")}`])).exit
  assert.strictEqual(code, 0, stderr)
  const names = yield* Effect.promise(() => readdir(join(folder, "new")))
  assert.deepStrictEqual(
    stdout.trim().split("\n").toSorted(),
    names.map((name) => join(folder, "new", name)).toSorted()
  )
  const texts = yield* Effect.promise(() =>
    Promise.all(names.map((name) => readFile(join(folder, "new", name), "utf8")))
  )
  return new Map(
    names.map((name, index) => [/-(\w+)\.json$/.exec(name)?.[1], JSON.parse(texts[index] ?? "") as Read.Dashboard])
  )
})

describe.concurrent("dashboards", () => {
  it.live(
    "of controllers, of the manager and of shards ask for what the program serves, and get data",
    () =>
      Effect.gen(function* () {
        const boards = yield* written
        const queries = ["controllers", "manager", "shards"].flatMap((file) => {
          const board = boards.get(file)
          assert.isDefined(board, file)
          return Read.queriesOf(board)
        })
        assert.isAbove(queries.length, 60)
        const server = yield* Process.start(["apiserver"])
        const [, kubeconfig = ""] = yield* server.says(/^export KUBECONFIG=(\S+)$/m)
        const flags = [
          "--leader-elect",
          "--sharding",
          "--client-metrics=all",
          "--controllers=*,ttl-after-finished,memcached"
        ]
        const address = "--metrics-bind-address=127.0.0.1:0"
        const program = yield* Process.start(["--kubeconfig", kubeconfig, ...flags, address])
        const [, port = ""] = yield* program.says(/message="Serving metrics" port=(\d+)/)
        let found: ReadonlyArray<string> = ["nothing was scraped"]
        let text = ""
        for (let left = tries; found.length > 0 && left > 0; left--) {
          yield* Effect.sleep("100 millis")
          text = yield* scrape(Number(port))
          const families = Exposition.parse(text)
          found = queries.flatMap((query) => Read.unknownIn(query, families))
        }
        assert.deepStrictEqual(found, [])
        if (Promtool.missing === undefined) assert.strictEqual(Read.withoutData(queries, text), undefined)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "of the controllers' metrics ask for what the program serves",
    () =>
      Effect.gen(function* () {
        const board = (yield* written).get("metrics")
        const queries = board === undefined ? [] : Read.queriesOf(board)
        assert.isAbove(queries.length, 60)
        const program = yield* Process.start(["--cluster=embedded", "--metrics-bind-address=127.0.0.1:0"])
        const [, port = ""] = yield* program.says(/message="Serving metrics" port=(\d+)/)
        yield* program.says(/Starting Controller/)
        const families = Exposition.parse(yield* scrape(Number(port)))
        // A family with labels is served from its first series on; until then only its declaration is there.
        const declared = new Map(
          table
            .flatMap(({ controller }) => controller.metrics ?? [])
            .map(({ labels, name, type }): [string, Pick<Exposition.Family, "labels" | "type">] => [
              name,
              { labels, type }
            ])
        )
        const served = [...declared.keys()].filter((name) => families.has(name))
        assert.isAbove(served.length, 10)
        assert.deepStrictEqual(
          queries.flatMap((query) => Read.unknownIn(query, new Map([...declared, ...families]))),
          []
        )
        if (Promtool.missing === undefined) assert.strictEqual(Read.unparsable(queries), undefined)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "are printed in a ConfigMap without a directory, for the chosen controllers",
    () =>
      Effect.gen(function* () {
        const args = ["dashboards", "--controllers=pod-count", "--install-namespace=monitoring"]
        const { code, stdout } = yield* (yield* Process.start(args)).exit
        assert.strictEqual(code, 0)
        const { data, metadata } = parse(stdout) as {
          readonly metadata: { readonly name: string; readonly namespace: string }
          readonly data: Readonly<Record<string, string>>
        }
        assert.deepInclude(metadata, { name: "effect-controller-manager-dashboards", namespace: "monitoring" })
        // The controller declares no metrics, so there is no third dashboard.
        const titles = Object.values(data).map((text) => (JSON.parse(text) as Read.Dashboard).title)
        assert.deepStrictEqual(titles, [
          "effect-controller-manager / Controllers",
          "effect-controller-manager / Leadership and API"
        ])
      }).pipe(Effect.scoped),
    timeout
  )

  it.live("are not written where the directory cannot be made, and the command says why", () =>
    Effect.gen(function* () {
      const folder = yield* Process.folder
      const { code, stderr } = yield* (yield* Process.start(["dashboards", `--out=/dev/null/${folder}`])).exit
      assert.strictEqual(code, 1)
      assert.match(stderr, /cannot write \/dev\/null/)
    }).pipe(Effect.scoped)
  )
})
