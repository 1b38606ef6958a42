/**
 * A user and a Deployment: the whole program, simulated machines, and kubectl from create to delete. The same story is told on the
 * embedded cluster, where one process is everything, and on a real kube-apiserver, where loops and machines are two ordinary
 * clients of it. Needs kubectl; the second also `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { tmpdir } from "node:os"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const assets = envtest.assets()
const installed = Process.has("kubectl")
if (!installed) process.stderr.write("rollouts skipped: there is no kubectl on PATH\n")
else if ("missing" in assets) process.stderr.write(`rollouts on a real API server skipped: ${assets.missing}\n`)

const loops = "deployment,replicaset,replicationcontroller,garbagecollector,namespace,serviceaccount"

/** Where the kubeconfig is. */
type Stage = Effect.Effect<string, never, Scope.Scope>

const embedded: Stage = Effect.gen(function* () {
  const program = yield* Process.start(["--cluster=embedded"])
  const [, path = ""] = yield* program.says(/^kubectl --kubeconfig (\S+) /m)
  return path
})

const real: Stage = Effect.gen(function* () {
  const server = yield* envtest.start("folder" in assets ? assets.folder : "")
  const file = yield* Kubeconfigs.write({ server: server.url, ca: server.ca, user: { token: server.token } })
  const machines = yield* Process.start(["nodes", "--kubeconfig", file, "--count", "3"])
  yield* machines.says(/3 simulated nodes are ready/)
  const program = yield* Process.start(["--kubeconfig", file, "--leader-elect=false", `--controllers=${loops}`])
  yield* program.says(/Starting Controller.*deployment/)
  return file
})

interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const kubectl = Effect.fnUntraced(function* (kubeconfig: string) {
  const home = yield* Process.folder
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: tmpdir(), KUBECONFIG: kubeconfig }
  const run = (line: string) =>
    Effect.promise(
      () =>
        new Promise<Answer>((resolve) => {
          execFile("kubectl", ["-n", "story", ...line.split(" ")], { env }, (error, stdout, stderr) =>
            resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, stdout, stderr })
          )
        })
    )
  const ok = (line: string) =>
    Effect.map(run(line), ({ code, stderr, stdout }) => {
      assert.strictEqual(code, 0, `kubectl ${line}:\n${stdout}${stderr}`)
      return stdout
    })
  const field = (path: string) => ok(`get deployment web -o jsonpath={${path}}`)
  return { run, ok, field }
})

/** Revisions as `rollout history` lists them. */
const revisionsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(\d+) /gm)].map(([, number = ""]) => number)

const story = (stage: Stage) =>
  Effect.gen(function* () {
    const { field, ok, run } = yield* kubectl(yield* stage)
    yield* ok("create namespace story")
    const rolledOut = Effect.gen(function* () {
      assert.match(yield* ok("rollout status deployment/web --timeout=60s"), /successfully rolled out/)
    })

    yield* ok("create deployment web --image=example.test/web:1 --replicas=3")
    yield* rolledOut
    assert.match(
      yield* ok("describe deployment web"),
      /ScalingReplicaSet.* Scaled up replica set web-\w+ from 0 to 3\n/
    )
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["1"])

    yield* ok("set image deployment/web web=example.test/web:2")
    yield* rolledOut
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["1", "2"])
    assert.match(yield* ok("rollout history deployment/web --revision=1"), /Image:\s+example\.test\/web:1/)

    yield* ok("rollout undo deployment/web")
    yield* rolledOut
    assert.strictEqual(yield* field(".spec.template.spec.containers[0].image"), "example.test/web:1")
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3"])

    yield* ok("scale deployment/web --replicas=5")
    yield* rolledOut
    yield* ok("wait deployment/web --for=condition=Available --timeout=60s")
    assert.strictEqual(yield* field(".status.availableReplicas"), "5")

    yield* ok("rollout pause deployment/web")
    yield* ok("set image deployment/web web=example.test/web:3")
    yield* ok("wait deployment/web --for=condition=Progressing=Unknown --timeout=60s")
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3"])
    yield* ok("rollout resume deployment/web")
    yield* rolledOut
    yield* ok("rollout restart deployment/web")
    yield* rolledOut
    assert.deepStrictEqual(revisionsIn(yield* ok("rollout history deployment/web")), ["2", "3", "4", "5"])

    yield* ok(`patch deployment web -p {"spec":{"progressDeadlineSeconds":2}}`)
    yield* ok("set image deployment/web web=example.test/web:404")
    const stuck = yield* run("rollout status deployment/web --timeout=60s")
    assert.strictEqual(stuck.code, 1)
    assert.match(stuck.stderr, /deployment "web" exceeded its progress deadline/)
    // As with the loops in Go, the old verdict stands until something has progressed: rollout status would repeat it.
    yield* ok(`patch deployment web -p {"spec":{"progressDeadlineSeconds":600}}`)
    yield* ok("rollout undo deployment/web --to-revision=2")
    yield* ok("wait deployment/web --for=condition=Progressing --timeout=60s")
    yield* rolledOut
    assert.strictEqual(yield* field(".spec.template.spec.containers[0].image"), "example.test/web:2")

    yield* ok("delete deployment web")
    yield* ok("wait pods -l app=web --for=delete --timeout=60s")
    assert.strictEqual(yield* ok("get replicasets -l app=web -o name"), "")
    yield* ok("delete namespace story --timeout=60s")
  }).pipe(Effect.scoped)

describe.skipIf(!installed).concurrent("kubectl rolls a Deployment out and back", () => {
  it.live("on the embedded cluster", () => story(embedded), 180_000)
  it.live.skipIf("missing" in assets)("on a real API server", () => story(real), 180_000)
})
