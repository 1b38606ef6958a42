/**
 * `crds` as a process: it handles the kinds of the chosen controllers, and says when they declare none. Also what kubectl shows of a
 * definition that follows from Schemas; this needs kubectl.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { execFile } from "node:child_process"
import * as Crd from "../../src/kube/crd/Crd.ts"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import { Memcached } from "../kube/crd/fixtures.ts"
import * as Process from "../support/process.ts"

const sentence = "none of the chosen controllers declares a kind of its own"

describe.concurrent("crds", () => {
  for (const [args, said] of [
    [["print", "--controllers=*,-memcached,-ecsbinding"], `# ${sentence}\n`],
    [["install", "--cluster=embedded", "--controllers=pod-count"], `${sentence}\n`],
    [["install", "--cluster=embedded"], "ecsbinding.hopegi.com unchanged\nmemcacheds.cache.example.com unchanged\n"],
    [["diff", "--cluster=embedded", "--controllers=memcached"], "memcacheds.cache.example.com is the same\n"]
  ] as const) {
    it.live(`crds ${args.join(" ")}`, () =>
      Effect.gen(function* () {
        const { code, stdout } = yield* Process.run(["crds", ...args])
        assert.strictEqual(stdout, said)
        assert.strictEqual(code, 0)
      }).pipe(Effect.scoped)
    )
  }

  it.live("crds install --dry-run prints what it would write, and writes nothing", () =>
    Effect.gen(function* () {
      const { kubeconfig } = Context.get(yield* Layer.build(EmbeddedCluster.layer({})), EmbeddedCluster)
      const ours = ["--kubeconfig", kubeconfig, "--controllers=memcached"]
      const { code, stdout } = yield* Process.run(["crds", "install", "--dry-run", ...ours])
      assert.strictEqual(stdout, "memcacheds.cache.example.com created (dry run)\n")
      assert.strictEqual(code, 0)
      const table = yield* Process.run(["crds", "install", "--dry-run", "-o", "table", ...ours])
      assert.match(table.stdout, /^memcacheds\.cache\.example\.com +created \(dry run\)$/m)
      const after = yield* Process.run(["crds", "diff", ...ours])
      assert.strictEqual(after.stdout, "memcacheds.cache.example.com is not in the cluster\n")
    }).pipe(Effect.scoped)
  )

  it.live("a mistyped subcommand is a usage error in one line", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* Process.run(["crds", "instal"])
      assert.match(stderr, /^[^\n]*there is no command "instal"[^\n]*install[^\n]*\n$/)
      assert.strictEqual(code, 2)
    }).pipe(Effect.scoped)
  )
})

const installed = Process.has("kubectl")
if (!installed) process.stderr.write("explaining kinds skipped: there is no kubectl on PATH\n")

describe.skipIf(!installed)("kubectl", () => {
  it.live("explains a kind with the descriptions of its Schema", () =>
    Effect.gen(function* () {
      const { kubeconfig } = Context.get(yield* Layer.build(EmbeddedCluster.layer({})), EmbeddedCluster)
      const home = yield* Process.folder
      const kubectl = (line: string, input = "") =>
        Effect.promise(
          () =>
            new Promise<string>((resolve, reject) => {
              const env = { PATH: process.env["PATH"] ?? "", HOME: home, KUBECONFIG: kubeconfig }
              const child = execFile("kubectl", line.split(" "), { env }, (error, stdout, stderr) =>
                error === null ? resolve(stdout) : reject(new Error(`kubectl ${line}: ${stderr}${stdout}`))
              )
              child.stdin?.end(input)
            })
        )
      yield* kubectl("apply -f -", JSON.stringify(Result.getOrThrow(Crd.make(Memcached))))
      yield* kubectl("wait --for=condition=Established crd/memcacheds.cache.example.com --timeout=10s")
      const explained = yield* kubectl("explain memcached.spec")
      for (const words of ["How many servers.", "Where they listen.", "-required-"]) assert.include(explained, words)
      assert.include(yield* kubectl("explain memcached"), "A cluster of memcached servers.")
    }).pipe(Effect.scoped)
  )
})
