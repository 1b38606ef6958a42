/**
 * Properties of the RevisionLog, against a model that keeps every state: a replayed watch equals the list, an exact list equals the
 * state at its revision, and pages together equal the list at the revision of the first.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Selector from "../../../src/kube/Selector.ts"
import { Collection } from "../../../src/apiserver/storage/Collection.ts"
import * as RevisionLog from "../../../src/apiserver/storage/RevisionLog.ts"
import * as resources from "../../../src/apiserver/scheme/resources.ts"
import * as Version from "../../../src/apiserver/storage/Version.ts"
import { objectEncoder } from "../../../src/apiserver/printers/Encoder.ts"
import * as Stream from "effect/Stream"

const resource = resources.all.find((one) => one.kind === "ConfigMap")!
const encoder = objectEncoder(resource)
const web: Version.SelectionPredicate = {
  namespace: "a",
  labels: [{ key: "app", operator: "In", values: ["web"] }] satisfies Selector.LabelSelector,
  fields: []
}

const Step = Schema.Struct({
  namespace: Schema.Literals(["a", "b", "a-b"]),
  name: Schema.Literals(["x", "y", "z"]),
  app: Schema.Literals(["web", "db", "gone"]),
  /** Whether the log is compacted after this step, to its revision of three steps before. */
  compact: Schema.Boolean
})
const Script = Arbitrary.schema(Schema.Array(Step).check(Schema.isMaxLength(40)))
type Script = ReadonlyArray<typeof Step.Type>

const version = (step: typeof Step.Type, revision: number): Version.Version =>
  Version.make(
    [resource],
    {
      metadata: {
        name: step.name,
        namespace: step.namespace,
        resourceVersion: String(revision),
        labels: { app: step.app }
      }
    },
    revision
  )

/** Runs the script; `states[r]` is the model at revision r, in order. */
const runScript = (script: Script, compacting: boolean) => {
  const log = RevisionLog.make({ capacity: 1000 })
  const collection = new Collection(log, "configmaps")
  const states: Array<ReadonlyArray<string>> = [[]]
  const model = new Map<string, string>()
  for (const step of script) {
    const key = `${step.namespace}/${step.name}`
    const next = version(step, collection.upcoming())
    if (step.app !== "gone") {
      collection.store(next)
      model.set(key, next.text)
    } else if (model.has(key)) {
      collection.remove(next)
      model.delete(key)
    } else continue
    states.push([...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text))
    if (compacting && step.compact) log.compact(log.revision() - 3)
  }
  return { log, collection, states }
}

const textsAt = (collection: Collection, revision: number, namespace = "", after = "") =>
  [...collection.range({ namespace, after, revision })].map((one) => one.text)

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Whether each retained revision has the objects of its time, in all namespaces and in one. */
const pastIsKept = (script: Script): boolean => {
  const { collection, log, states } = runScript(script, true)
  for (let revision = collection.history.compacted; revision <= log.revision(); revision++) {
    if (!equal(textsAt(collection, revision), states[revision])) return false
    const own = (states[revision] ?? []).filter((text) => JSON.parse(text).metadata.namespace === "a")
    if (!equal(textsAt(collection, revision, "a"), own)) return false
    for (const namespace of ["", "a"]) if (!countsAt(collection, revision, namespace)) return false
  }
  return true
}

/** Whether the number of objects after each key equals that of a range that starts there. */
const countsAt = (collection: Collection, revision: number, namespace: string): boolean => {
  const all = [...collection.range({ namespace, after: "", revision })]
  return all.every(({ key }, index) => {
    const rest = all.slice(index + 1).map((one) => one.text)
    const found = [...collection.range({ namespace, after: key, revision })].map((one) => one.text)
    return equal(found, rest) && collection.countAfter(namespace, key, revision) === rest.length
  })
}

/** Whether the list at any revision plus the events of a watch from there equals the present list, for all objects and a selection. */
const watchIsReplay = (script: Script, compacting = false) =>
  Effect.gen(function* () {
    const { collection, log, states } = runScript(script, compacting)
    for (const selection of [{ namespace: "", labels: [], fields: [] }, web]) {
      for (let from = Math.max(0, collection.history.watchable); from <= log.revision(); from++) {
        const chosen = (texts: ReadonlyArray<string> | undefined) =>
          (texts ?? []).filter((text) => selection !== web || matchesWeb(JSON.parse(text)))
        const wanted = new Map(chosen(states.at(-1)).map((text) => [keyOf(text), text]))
        const held = new Map(chosen(states[from]).map((text) => [keyOf(text), text]))
        if (!(yield* replay(collection, selection, from, held))) return false
        if (!equal([...held].sort(byKey), [...wanted].sort(byKey))) return false
      }
    }
    return true
  })

const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1)

const matchesWeb = (object: any): boolean => object.metadata.namespace === "a" && object.metadata.labels.app === "web"

const keyOf = (text: string): string => {
  const { name, namespace } = JSON.parse(text).metadata
  return `${namespace}/${name}`
}

/** Applies the events to `held`; false when an event contradicts it. */
const replay = (
  collection: Collection,
  selection: Version.SelectionPredicate,
  from: number,
  held: Map<string, string>
) =>
  Effect.gen(function* () {
    const plan = {
      selection,
      encoder,
      initial: [],
      markInitialEnd: false,
      revision: from,
      bookmarks: false,
      duration: 0
    }
    const watching = collection.watchers.open({ ...plan, duration: 60_000 })
    // The watch delivers its events and then waits: it is interrupted after a few yields.
    const lines: Array<string> = []
    yield* Stream.runForEachArray(watching, (chunk) =>
      Effect.sync(() => {
        lines.push(...chunk)
      })
    ).pipe(Effect.raceFirst(Effect.repeat(Effect.yieldNow, { times: 10 })))
    for (const line of lines) {
      const { object, type } = JSON.parse(line)
      const { apiVersion: _apiVersion, kind: _kind, ...stored } = object
      const key = keyOf(JSON.stringify(stored))
      if (held.has(key) !== (type !== "ADDED")) return false
      if (type === "DELETED") held.delete(key)
      else held.set(key, JSON.stringify(stored))
    }
    return true
  })

describe("the log", () => {
  it.prop("keeps the past that it still covers", { script: Script }, ({ script }) => pastIsKept(script), {
    arbitrary: { runs: 300 }
  })

  it.effect.prop("a watch is a replay", { script: Script }, ({ script }) => watchIsReplay(script), {
    arbitrary: { runs: 40 }
  })

  it.effect.prop(
    "a watch is a replay from every revision that a compaction leaves watchable",
    { script: Script },
    ({ script }) => watchIsReplay(script, true),
    { arbitrary: { runs: 40 } }
  )

  it.prop("a bounded history never holds more than its capacity", { script: Script }, ({ script }) => {
    const log = RevisionLog.make({ capacity: 5 })
    const collection = new Collection(log, "configmaps")
    return script.every((step) => {
      collection.store(version(step, collection.upcoming()))
      const { dropped, size, watchable } = collection.history
      const gone = Math.max(0, log.revision() - 5)
      return size <= 5 && dropped === gone && Math.max(0, watchable) === gone
    })
  })
})

/** Objects that are created, start and stop matching the selection, and are deleted, with compactions in between. */
const moving: Script = [
  { namespace: "a", name: "x", app: "web", compact: false },
  { namespace: "a-b", name: "x", app: "web", compact: false },
  { namespace: "a", name: "y", app: "db", compact: false },
  { namespace: "a", name: "x", app: "db", compact: false },
  { namespace: "a", name: "y", app: "web", compact: true },
  { namespace: "a", name: "x", app: "gone", compact: false },
  { namespace: "a", name: "y", app: "web", compact: true },
  { namespace: "a", name: "z", app: "web", compact: false }
]

describe("the log of objects that enter and leave a selection", () => {
  it("keeps every retained revision readable", () => assert.isTrue(pastIsKept(moving)))

  it.effect("a watch is a replay", () => Effect.map(watchIsReplay(moving), (holds) => assert.isTrue(holds)))

  it.effect("a watch is a replay from every revision that a compaction leaves watchable", () =>
    Effect.map(watchIsReplay(moving, true), (holds) => assert.isTrue(holds))
  )
})
