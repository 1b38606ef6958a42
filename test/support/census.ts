/**
 * Counts what a process holds in memory, so that a test can detect growth: the heap after a collection, the fibers that have not ended, and the
 * entries of all maps, sets and arrays, of any code. It needs no registration; V8's inspector finds them.
 */
import * as Effect from "effect/Effect"
import { Session } from "node:inspector/promises"
import process from "node:process"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { profiler } from "../../src/platform/inspector.ts"

export interface Census {
  /** Bytes. */
  readonly heap: number
  readonly fibers: number
  /** Entries of all maps and sets. */
  readonly entries: number
  /** Elements of all arrays. */
  readonly elements: number
  /** Open sockets, timers and the like of the event loop. */
  readonly resources: number
}

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Calls a function, given as source text, with an array of all objects that have this prototype. */
const onAll = (session: Session, prototype: string, declaration: string): Promise<number> =>
  session
    .post("Runtime.evaluate", { expression: prototype })
    .then(({ result }) => session.post("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" }))
    .then(({ objects }) =>
      session.post("Runtime.callFunctionOn", {
        objectId: objects.objectId ?? "",
        functionDeclaration: declaration,
        returnByValue: true
      })
    )
    .then(({ result }) => Number(result.value))

/** Prototypes are among the objects too, and have no size. */
const sizes = `function () {
  let sum = 0
  for (const one of this) try { sum += one.size } catch {}
  return sum
}`
const lengths = `function () {
  let sum = 0
  for (const one of this) if (one !== this && Array.isArray(one)) sum += one.length
  return sum
}`

export const take: Effect.Effect<Census> = Effect.gen(function* () {
  const fibers = yield* profiler.fibers
  return yield* Effect.promise(async () => {
    const session = new Session()
    session.connect()
    // The inspector releases the objects that it has found when the session ends.
    const maps = await onAll(session, "Map.prototype", sizes)
    const sets = await onAll(session, "Set.prototype", sizes)
    const elements = await onAll(session, "Array.prototype", lengths)
    session.disconnect()
    for (let i = 0; i < 3; i++) {
      collect()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return {
      heap: process.memoryUsage().heapUsed,
      fibers: fibers.length,
      entries: maps + sets,
      elements,
      resources: process.getActiveResourcesInfo().length
    }
  })
})
