/** Which mutants `npm run explore:mutants` makes of a source. */
import { assert, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const source = `
Controller.make({
  owns: [Deployment, Service],
  access: [Access.create(Deployment)],
  finalizers: { [finalizer]: (object, { events }) => events.normal(object, "Deleting", "") },
  reconcileObject: (object, { client }) => Effect.gen(function* () {
    if (object.spec.count > 1 && object.isReady) yield* client.subresource("status").patch(Widget, object, {})
    const live = pods.filter(({ metadata }) => metadata.name === "a").length ?? 0
    return live === 0 ? Reconcile.after("1 second") : Reconcile.done
  })
})
`

const listed = (text: string): ReadonlyArray<string> => {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"))
  try {
    const file = join(folder, "controller.ts")
    writeFileSync(file, text)
    const script = new URL("../../scripts/exploreMutants.mjs", import.meta.url).pathname
    const { stderr, stdout } = spawnSync(process.execPath, [script, "--list", file], { encoding: "utf8" })
    assert.strictEqual(stderr, "")
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const { class: kind, line: at, original, replacement } = JSON.parse(line) as Record<string, string>
        return `${at} ${kind}: ${original} → ${replacement}`
      })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it("explore:mutants deletes each write, requeue and source, and forces each condition to both values", () => {
  assert.deepStrictEqual(listed(source), [
    "3 source: Deployment → nothing",
    "3 source: Service → nothing",
    '5 write: [finalizer]: (object, { events }) => events.normal(object, "Deleting", "") → nothing',
    '5 write: events.normal(object, "Deleting", "") → Effect.void',
    "7 condition: object.spec.count > 1 && object.isReady → true",
    "7 condition: object.spec.count > 1 && object.isReady → false",
    "7 condition: object.spec.count > 1 → true",
    "7 condition: object.isReady → true",
    '7 write: client.subresource("status").patch(Widget, object, {}) → Effect.void',
    '8 condition: pods.filter(({ metadata }) => metadata.name === "a").length ?? 0 → pods.filter(({ metadata }) => metadata.name === "a").length',
    '8 condition: pods.filter(({ metadata }) => metadata.name === "a").length ?? 0 → 0',
    '8 condition: ({ metadata }) => metadata.name === "a" → () => true',
    '8 condition: ({ metadata }) => metadata.name === "a" → () => false',
    "9 condition: live === 0 → true",
    "9 condition: live === 0 → false",
    '9 requeue: Reconcile.after("1 second") → Reconcile.done'
  ])
})

it("explore:mutants makes no mutant of a source without writes, conditions, requeues and sources", () => {
  assert.deepStrictEqual(listed("export const access = [Access.patch(Widget)]\n"), [])
})
