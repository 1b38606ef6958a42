import { assert, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Behavior from "../../../src/simulation/pod/behavior.ts"

const exit = (code: number, seconds = 0) => ({ code, after: seconds * 1_000 })

const pod = (annotations: Record<string, string> = {}, owner?: string): Pod => ({
  metadata: {
    name: "p",
    annotations,
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: "batch/v1", kind: owner, name: "o", uid: "u", controller: true }] })
  }
})

const main = { name: "main", image: "example.test/main:1", command: ["sleep", "9"] }
const server = { name: "main", image: "nginx:1.27" }
const of = (text: string, container: Parameters<typeof Behavior.exitOf>[1] = main, run = 0) =>
  Behavior.exitOf(pod({ [Behavior.exitAnnotation]: text }), container, "app", run)

it("the annotation takes precedence over the command of the containers that it names", () => {
  assert.deepStrictEqual(of("main=3@5"), exit(3, 5))
  assert.deepStrictEqual(of("side=1, main=0"), exit(0))
  assert.deepStrictEqual(of("side=1@2"), exit(0, 9))
  assert.deepStrictEqual(of("main=x; rm -rf"), exit(0, 9))
  assert.deepStrictEqual(Behavior.exitOf(pod(), { ...main, args: ["1"] }, "app", 0), exit(0, 9))
  assert.deepStrictEqual(of("main=1@2", { ...server, image: "web:crash" }), exit(1, 2))
})

it("an exit for a number of runs does not count after them", () => {
  assert.deepStrictEqual(of("main=1@5x3", server, 2), exit(1, 5))
  assert.isUndefined(of("main=1@5x3", server, 3))
  assert.deepStrictEqual(of("main=1x3", main, 3), exit(0, 9))
})

it("init containers and the containers of Jobs end well by default, and all others run on", () => {
  const usual = (role: Behavior.Role, owner?: string) => Behavior.exitOf(pod({}, owner), server, role, 0)
  assert.deepStrictEqual(usual("init"), exit(0, 1))
  assert.deepStrictEqual(usual("app", "Job"), exit(0, 1))
  for (const role of ["sidecar", "ephemeral"] as const) assert.isUndefined(usual(role, "Job"))
  assert.isUndefined(usual("app"))
  assert.isUndefined(usual("app", "Workflow"))
  const forever = { ...server, command: ["sh", "-c", "while true; do date; sleep 1; done"] }
  assert.isUndefined(Behavior.exitOf(pod({}, "Job"), forever, "app", 0))
  const unknown = { ...server, command: ["sh", "-c", "until nslookup db; do sleep 2; done"] }
  assert.deepStrictEqual(Behavior.exitOf(pod(), unknown, "init", 0), exit(0, 1))
  assert.isUndefined(Behavior.exitOf(pod(), unknown, "app", 0))
})

it("tags and names of images decide where no annotation does", () => {
  const image = (image: string, more: object = {}) => Behavior.exitOf(pod(), { name: "main", image, ...more }, "app", 0)
  assert.deepStrictEqual(image("registry.example:5000/web:crash"), exit(1, 1))
  assert.deepStrictEqual(image("web:crash", { command: ["sleep", "9"] }), exit(1, 1))
  assert.deepStrictEqual(image("web:oom"), { ...exit(137, 1), reason: "OOMKilled" })
  assert.deepStrictEqual(image("docker.io/library/busybox"), exit(0))
  assert.deepStrictEqual(image("hello-world:latest@sha256:0"), exit(0))
  assert.isUndefined(image("busybox:1.37", { stdin: true }))
  assert.deepStrictEqual(image("busybox", { args: ["sleep", "5"] }), exit(0, 5))
  assert.isUndefined(image("registry.example:5000/web"))
  assert.strictEqual(Behavior.startOf(pod(), { name: "main", image: "web:slow" }), 30_000)
  assert.isTrue(Behavior.isUnready(pod(), { name: "main", image: "web:unready" }))
})

it("a container above its memory limit is killed, at the time when its use rises", () => {
  const limited = { ...server, resources: { limits: { memory: "128Mi" } } }
  const killed = (text: string, container: object = limited, annotations: object = {}) =>
    Behavior.exitOf(pod({ [Behavior.memoryAnnotation]: text, ...annotations }), { ...server, ...container }, "app", 0)
  assert.deepStrictEqual(killed("main=300Mi@5"), { ...exit(137, 5), reason: "OOMKilled" })
  assert.deepStrictEqual(killed("main=1G"), { ...exit(137), reason: "OOMKilled" })
  assert.isUndefined(killed("main=128Mi"))
  assert.isUndefined(killed("side=1Gi"))
  assert.isUndefined(killed("main=1Gi", { resources: {} }))
  assert.isUndefined(killed("main=much@5"))
  assert.isUndefined(killed("main=1Gi@soon"))
  assert.deepStrictEqual(killed("main=1Gi@9", limited, { [Behavior.exitAnnotation]: "main=2@3" }), exit(2, 3))
})

it("start and readiness can be delayed, in seconds", () => {
  const slow = pod({ [Behavior.startAnnotation]: "main=2.5,side=x", [Behavior.readyAnnotation]: "side=20" })
  assert.strictEqual(Behavior.startOf(slow, server), 2_500)
  assert.isUndefined(Behavior.startOf(slow, { name: "side" }))
  assert.deepStrictEqual([Behavior.readyAfter(slow, "side"), Behavior.readyAfter(slow, "main")], [20_000, 0])
})

it.prop(
  "any annotation and image give no exit, or a code from 0 to 255 after a finite time",
  { text: Schema.String, value: Schema.String, image: Schema.String },
  ({ image, text, value }) => {
    const names = [
      Behavior.exitAnnotation,
      Behavior.memoryAnnotation,
      Behavior.startAnnotation,
      Behavior.readyAnnotation
    ]
    for (const given of [text, `main=${value}`, `main=${value}@1x2,${text}`]) {
      const annotated = pod(Object.fromEntries(names.map((name) => [name, given])))
      const container = { name: "main", image, resources: { limits: { memory: value } } }
      const one = Behavior.exitOf(annotated, container, "app", 0)
      assert.isTrue(one === undefined || (one.code >= 0 && one.code < 256 && Number.isFinite(one.after)))
      assert.isTrue(Number.isFinite(Behavior.startOf(annotated, container) ?? 0))
      assert.isTrue(Number.isFinite(Behavior.readyAfter(annotated, "main")))
    }
  }
)

it("a long annotation is read up to a limit", () => {
  const filler = Array.from({ length: 63 }, (_, index) => `c${index}=0`).join(",")
  assert.deepStrictEqual(of(`${filler},main=7`, server), exit(7))
  assert.isUndefined(of(`${filler},c64=0,main=7`, server))
})
