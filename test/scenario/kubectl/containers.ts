/** Containers from a user's view, on simulated nodes: their logs, and why no command can run in them. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { shows, type Scenario } from "./harness.ts"

const pod = (name: string, annotations: object, spec: object = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, annotations },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: "main", image: "example.test/main:1" },
      { name: "side", image: "example.test/side:1" }
    ],
    ...spec
  }
})

const alone = (command: ReadonlyArray<string>) => ({
  restartPolicy: "Never",
  containers: [{ name: "main", image: "example.test/main:1", command }]
})

const logs: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, run, send } = kubectl
  yield* send("create", pod("web", { "simulation/logs": "main=GET /{n} 200@200ms\nside=ready" }))
  yield* ok("wait pod/web --for=condition=Ready --timeout=60s")
  yield* shows(kubectl, "logs web -c main", /^GET \/1 200\nGET \/2 200\nGET \/3 200\n/)
  assert.match(yield* ok("logs web -c main --tail=2"), /^GET \/\d+ 200\nGET \/\d+ 200\n$/)
  assert.match(yield* ok("logs web -c main --tail=1 --timestamps"), /^\d{4}-\S+\.\d{9}Z GET \/\d+ 200\n$/)
  assert.strictEqual(yield* ok("logs web -c main --limit-bytes=5"), "GET /")
  assert.strictEqual(yield* ok("logs web -c side"), "ready\n")
  // Within a second at most five lines are written, and one more at its end.
  assert.isAtMost((yield* ok("logs web -c main --since=1s")).split("\n").length, 8)
  const all = yield* ok("logs web --all-containers --prefix")
  assert.include(all, "[pod/web/side] ready\n")
  assert.match(all, /\[pod\/web\/main\] GET \/1 200\n/)
  assert.include(
    (yield* run("logs web -c side --previous")).stderr,
    'previous terminated container "side" in pod "web" not found'
  )
  assert.include((yield* run("logs web -c other")).stderr, "container other is not valid for pod web")
})

/** With -f the command ends when the container does. The pod runs for two seconds, and may be over before kubectl first asks for it. */
const followed: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, send } = kubectl
  yield* send("create", pod("work", {}, alone(["sh", "-c", "echo step 1; sleep 1; echo step 2; sleep 1; echo step 3"])))
  yield* shows(kubectl, "get pod work -o jsonpath={.status.phase}", /^(Running|Succeeded)$/)
  assert.strictEqual(yield* ok("logs -f work"), "step 1\nstep 2\nstep 3\n")
  assert.strictEqual(yield* ok("logs work"), "step 1\nstep 2\nstep 3\n")
})

const previous: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, send } = kubectl
  const spec = { ...alone(["sh", "-c", "echo trying; sleep 1; exit 1"]), restartPolicy: "Always" }
  yield* send("create", pod("crash", {}, spec))
  yield* shows(kubectl, "get pod crash -o jsonpath={.status.containerStatuses[0].restartCount}", /^[1-9]/)
  assert.strictEqual(yield* ok("logs crash --previous"), "trying\n")
})

const refused: Scenario = Effect.fnUntraced(function* ({ ok, run, send }) {
  yield* send("create", pod("tool", {}, alone(["sleep", "infinity"])))
  yield* ok("wait pod/tool --for=condition=Ready --timeout=60s")
  for (const line of ["exec tool -- ls", "attach tool", "port-forward tool 0:80", "cp tool:/etc/hosts /dev/null"]) {
    const { code, stderr } = yield* run(line)
    assert.notStrictEqual(code, 0, line)
    assert.include(stderr, "the containers of this cluster are simulated", line)
  }
})

export const containers: Scenario = (kubectl, server) =>
  Effect.forEach([logs, followed, previous, refused], (scenario) => scenario(kubectl, server), { discard: true })
