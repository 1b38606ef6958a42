/** A program of a library user: its controller with the whole command line, and its own name everywhere. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Lease, Namespace } from "../../src/kube/resources.ts"
import * as Bundle from "../support/bundle.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const fixture = Effect.gen(function* () {
  const program = yield* Bundle.make("test/scenario/team/program.ts")
  const start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = { TEAM_WORD: "hello" }) =>
    Process.start(args, env, { program })
  const ask = (...args: ReadonlyArray<string>) => Effect.flatMap(start(args), ({ exit }) => exit)
  return { ask, start }
})

const limit = 120_000

describe("a user's program", () => {
  it.live(
    "works under an elected leader in its own name, with its flags and its services, and stops in order",
    () =>
      Effect.gen(function* () {
        const upstream = yield* Cluster.embedded
        const kubeconfig = yield* Kubeconfigs.write({ ...upstream, user: { token: upstream.token } })
        const client = yield* Cluster.client(upstream)
        const { start } = yield* fixture
        const one = yield* start([
          "--kubeconfig",
          kubeconfig,
          "--leader-elect",
          "--leader-elect-resource-name=words",
          "--word=team"
        ])
        yield* Cluster.until(
          client,
          Namespace,
          {},
          ({ metadata }) => metadata.name === "default" && metadata.labels?.["words"] === "hello-team"
        )
        const { items } = yield* client.list(Lease)
        const leases = items.filter(({ spec }) => (spec?.holderIdentity ?? "") !== "")
        assert.deepStrictEqual(
          leases.map(({ metadata }) => metadata.name),
          ["words"]
        )
        const writers = leases.flatMap(({ metadata }) => metadata.managedFields ?? []).map(({ manager }) => manager)
        assert.deepStrictEqual([...new Set(writers)], ["team-program"])
        yield* one.kill("SIGTERM")
        assert.strictEqual((yield* one.exit).code, 0, one.said())
      }).pipe(Effect.scoped),
    limit
  )

  it.live(
    "prints its own name",
    () =>
      Effect.gen(function* () {
        const { ask, start } = yield* fixture
        assert.strictEqual((yield* ask("--version")).stdout, "1.2.3\n")
        const help = (yield* ask("--help")).stdout
        assert.match(help, /^Writes words\.\n\nUsage: team-program /)
        assert.match(help, /--word word {2,}The second word \(default world\)/)
        assert.include(help, "writer  writes the word world")
        assert.include(
          help,
          "Name of the lease of your own controllers (also --leader-election-id; default team-program)"
        )
        for (const ours of ["effect-controller-manager", "pod-count", "lead under the lease of"]) {
          assert.notInclude(help, ours)
        }
        assert.notMatch(help, /^ *create /m)
        const wrong = yield* ask("--wrod=x")
        assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
        assert.match(wrong.stderr, /^team-program: unknown flag --wrod[^\n]*\n$/)
        const { code, stdout } = yield* ask("manifests", "--word=team")
        assert.strictEqual(code, 0)
        assert.notInclude(stdout, "effect-controller-manager")
        for (const line of ["image: team-program:latest", "- --word=team", "- --controllers=writer", "- namespaces"]) {
          assert.include(stdout, line)
        }
        const alone = yield* start(["--cluster=embedded"], {})
        const failed = yield* alone.exit
        assert.strictEqual(failed.code, 1)
        assert.match(failed.stderr, /^team-program: [^\n]*TEAM_WORD[^\n]*$/m)
      }).pipe(Effect.scoped),
    limit
  )
})
