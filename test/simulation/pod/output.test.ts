import { assert, it } from "@effect/vitest"
import type { Pod } from "../../../src/kube/resources.ts"
import * as Lines from "../../../src/simulation/pod/lines.ts"
import * as Output from "../../../src/simulation/pod/output.ts"

const start = Date.parse("2026-01-01T00:00:00Z")

const containerOf = (command: ReadonlyArray<string>, env: ReadonlyArray<object> = []) =>
  ({ name: "main", image: "i", command, env }) as unknown as NonNullable<Pod["spec"]>["containers"][number]

const pod = { metadata: { name: "web-0" } } as Pod

/** The lines of the first seconds with the second of each; undefined where nothing is known. */
const written = (command: ReadonlyArray<string>, seconds = 60, env?: ReadonlyArray<object>) => {
  const sources = Output.of(pod, containerOf(command, env), start)
  return sources === undefined
    ? undefined
    : Lines.last(sources, start + seconds * 1_000, 100).map(({ text, time }) => `${(time - start) / 1_000} ${text()}`)
}

const script = (text: string, seconds?: number) => written(["/bin/sh", "-c", text], seconds)

it("a container's output has the arguments of echo, with variables of its environment", () => {
  const env = [
    { name: "GREETING", value: "Hello" },
    { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }
  ]
  assert.deepStrictEqual(written(["echo", "$(GREETING),", "$(NOBODY)", "$$", "$(SECRET)"], 1, env), [
    "0 Hello, $(NOBODY) $$ "
  ])
})

it("a script's output has its lines at the times that its sleeps give", () => {
  assert.deepStrictEqual(
    script(`echo "one; and 'more'"; sleep 5 && echo 'two $HOSTNAME' || echo never; false && echo never
    name=x; echo "$name \${name} \\$name $HOSTNAME"; exit 3; echo never`),
    ["0 one; and 'more'", "5 two $HOSTNAME", "5 x x $name web-0"]
  )
  assert.deepStrictEqual(script("for i in a b; do echo $i; sleep 1; done; echo end"), ["0 a", "1 b", "2 end"])
})

it("an endless loop repeats its output, counts, and prints the date", () => {
  const counter = 'i=0; while true; do echo "$i: $(date)"; i=$((i+1)); sleep 2; done'
  assert.deepStrictEqual(script(counter, 4), [
    "0 0: 2026-01-01T00:00:00Z",
    "2 1: 2026-01-01T00:00:02Z",
    "4 2: 2026-01-01T00:00:04Z"
  ])
  assert.deepStrictEqual(script("while :; do i=$((i+1)); echo $i; done", 2), ["0 1", "1 2", "2 3"])
})

it("output that goes elsewhere is left out, and an unknown command ends it", () => {
  assert.deepStrictEqual(script("echo a > /data/f; echo b >&2; nginx -g x; echo never"), ["0 b"])
  assert.deepStrictEqual(script("true; sleep 1"), [])
  assert.deepStrictEqual(script("sleep infinity"), [])
  assert.isUndefined(script("nginx; echo never"))
  assert.isUndefined(written([]))
  assert.isUndefined(script("echo $(rm -rf /) | tee x"))
})

it("scripts of any size and form are read in bounded time", () => {
  for (const text of [
    "$(".repeat(50_000),
    "echo ${".repeat(20_000),
    '"'.repeat(99_999),
    "while true; do ".repeat(9_999)
  ])
    script(text)
  const many = script(`for i in ${"x ".repeat(4_000)}; do for j in 1 2 3; do echo $i; done; done`)
  assert.isTrue(many === undefined || many.length <= 256)
  assert.isAtMost(script(`for i in ${"x ".repeat(4_000)}; do echo $i; done`)?.length ?? 0, 256)
})
