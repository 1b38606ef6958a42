/**
 * The operators that ship with the program, from a user's view: the program as a process, the embedded cluster over HTTPS, and kubectl. Then a real
 * API server, which has to accept their definitions, and their objects where it supports custom objects. Needs kubectl; the second also `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const installed = Process.has("kubectl")
if (!installed) process.stderr.write("operators skipped: there is no kubectl on PATH\n")

const isMissing = envtest.isMissing("operators on a real API server")

const memcached = (name: string, spec: object) => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  metadata: { name },
  spec
})

const binding = {
  apiVersion: "hopegi.com/v1",
  kind: "EcsBinding",
  metadata: { name: "first" },
  spec: { id: "ecs-1", name: "first", nodename: "worker-1", innerip: "10.0.0.1" }
}

interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const kubectlOf = Effect.fnUntraced(function* (kubeconfig: string) {
  const home = yield* Process.folder
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: tmpdir(), KUBECONFIG: kubeconfig }
  const run = (line: string, input: object = {}) =>
    Effect.promise(
      () =>
        new Promise<Answer>((resolve) => {
          const child = execFile("kubectl", line.split(" "), { env }, (error, stdout, stderr) =>
            resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, stdout, stderr })
          )
          child.stdin?.end(JSON.stringify(input))
        })
    )
  const ok = (line: string, input?: object) =>
    Effect.map(run(line, input), ({ code, stderr, stdout }) => {
      assert.strictEqual(code, 0, `kubectl ${line}:\n${stdout}${stderr}`)
      return stdout
    })
  return { run, ok }
})

/** What `kubectl explain` prints about the kind, with the descriptions of its Schemas. */
const explains = (explained: string): void => {
  for (const words of ["How many servers.", "The port on which each server listens.", "-required-"]) {
    assert.include(explained, words)
  }
}

/** Waits until the event of the deletion is recorded: events are sent concurrently, and may come later. */
const deletionRecorded = (ok: Effect.Success<ReturnType<typeof kubectlOf>>["ok"]) =>
  Effect.retry(
    Effect.map(ok("get events --field-selector involvedObject.name=cache"), (events) =>
      assert.match(
        events,
        /Warning +Deleting +memcached\/cache +Custom Resource cache is being deleted from the namespace default/
      )
    ).pipe(Effect.sandbox),
    { times: 50 }
  )

describe.skipIf(!installed)("operators on the embedded cluster", () => {
  it.live("can be explained, applied, read, refused for a mistake, changed and deleted", () =>
    Effect.gen(function* () {
      const program = yield* Process.start(["--cluster=embedded"], { MEMCACHED_IMAGE: "example.test/memcached:7" })
      const [, path = ""] = yield* program.says(/^kubectl --kubeconfig (\S+) /m)
      const { ok, run } = yield* kubectlOf(path)
      yield* program.says(/Starting Controller.*ecsbinding/)
      explains(yield* ok("explain memcached.spec"))
      const object = "memcached.cache.example.com/cache"
      yield* ok("apply -f -", memcached("cache", { size: 2 }))
      yield* ok(`wait --for=condition=Available ${object} --timeout=60s`)
      assert.match(yield* ok("get mc"), /^NAME +SIZE +AVAILABLE +AGE\ncache +2 +True +\d+s\n$/)
      const image = "{.spec.template.spec.containers[0].image}"
      assert.strictEqual(yield* ok(`get deployment cache -o jsonpath=${image}`), "example.test/memcached:7")
      const refused = yield* run("apply -f -", memcached("cache", { size: 4 }))
      assert.include(refused.stderr, "spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3")
      yield* ok("apply -f -", memcached("cache", { size: 1, containerPort: 4000 }))
      const settled = "{.status.conditions[0].observedGeneration}"
      yield* ok(`wait --for=jsonpath=${settled}=2 ${object} --timeout=60s`)
      yield* ok(`wait --for=condition=Available ${object} --timeout=60s`)
      assert.strictEqual(yield* ok("get deployment cache -o jsonpath={.spec.replicas}"), "1")
      yield* ok("apply -f -", binding)
      yield* ok("wait --for=jsonpath={.metadata.annotations.has-reconcile}=true ecsb/first --timeout=60s")
      assert.match(yield* ok("get ecsb"), /^NAME +AGE +NODENAME +INNERIP\nfirst +\d+s +worker-1 +10\.0\.0\.1\n$/)
      yield* ok(`delete ${object} --timeout=60s`)
      yield* ok("wait --for=delete deployment/cache --timeout=60s")
      yield* deletionRecorded(ok)
    }).pipe(Effect.scoped)
  )
})

describe.skipIf(!installed || isMissing)("definitions of the operators on a real API server", () => {
  it.live(
    "are waited for, installed, explained, and then unchanged; their objects are reconciled",
    () =>
      Effect.gen(function* () {
        const server = yield* envtest.start()
        const file = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user: { token: server.token } })
        const kubectl = yield* kubectlOf(file)
        const { ok, run } = kubectl
        const ours = ["--kubeconfig", file, "--controllers=memcached,ecsbinding"]
        const names = ["ecsbinding.hopegi.com", "memcacheds.cache.example.com"]
        const program = yield* Process.start([...ours, "--leader-elect=false"])
        yield* program.says(/Skipping Controller until the server serves memcacheds\.cache\.example\.com/)
        const first = yield* Process.run(["crds", "install", ...ours])
        assert.strictEqual(first.stdout, names.map((name) => `${name} created\n`).join(""))
        yield* program.says(/Starting Controller.*memcached/)
        const again = yield* Process.run(["crds", "install", ...ours])
        assert.strictEqual(again.stdout, names.map((name) => `${name} unchanged\n`).join(""))
        const compared = yield* Process.run(["crds", "diff", ...ours])
        assert.deepStrictEqual(
          [compared.code, compared.stdout],
          [0, names.map((name) => `${name} is the same\n`).join("")]
        )
        // The documents of a new kind follow its definition.
        for (const kind of ["memcached", "ecsbinding"]) {
          const explained = Effect.filterOrFail(run(`explain ${kind}.spec`), ({ code }) => code === 0)
          yield* Effect.retry(explained, Schedule.spaced("100 millis"))
        }
        explains(yield* ok("explain memcached.spec"))
        assert.match(
          yield* ok("explain ecsbinding.spec"),
          /innerip.*\n? *The address of the machine inside the cloud\./
        )
        assert.match(
          yield* ok("api-resources --api-group=hopegi.com"),
          /ecsbinding +ecsb +hopegi\.com\/v1 +false +EcsBinding/
        )
        const created = yield* run("create -f -", binding)
        if (server.version.minor <= 20 && /EOF|connection re/.test(created.stderr)) {
          process.stderr.write(
            `objects of the operators on a real API server skipped: this build of ${server.version.major}.${server.version.minor} dies of every custom object\n`
          )
          return
        }
        assert.strictEqual(created.code, 0, created.stderr)
        yield* works(kubectl)
      }).pipe(Effect.scoped),
    180_000
  )
})

/** What the operators do without a Deployment controller: follow, repair, refuse, and finalize. */
const works = Effect.fnUntraced(function* ({ ok, run }: Effect.Success<ReturnType<typeof kubectlOf>>) {
  yield* ok("wait --for=jsonpath={.metadata.annotations.has-reconcile}=true ecsb/first --timeout=60s")
  yield* ok("apply -f -", memcached("cache", { size: 2 }))
  const replicas = (count: number) => ok(`wait --for=jsonpath={.spec.replicas}=${count} deployment/cache --timeout=60s`)
  yield* ok("wait --for=create deployment/cache --timeout=60s")
  yield* replicas(2)
  const refused = yield* run("apply -f -", memcached("cache", { size: 4 }))
  assert.include(refused.stderr, "spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3")
  yield* ok("apply -f -", memcached("cache", { size: 3 }))
  yield* replicas(3)
  yield* ok("scale deployment cache --replicas=7")
  yield* replicas(3)
  const object = "memcached.cache.example.com/cache"
  yield* ok(`wait --for=condition=Available=False ${object} --timeout=60s`)
  yield* ok(`delete ${object} --timeout=60s`)
  yield* deletionRecorded(ok)
})
