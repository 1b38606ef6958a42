/**
 * Profiles of the process, from V8's inspector and its heap statistics. The inspector is connected only while a profile is taken. Without profiles
 * there is no cost: fibers are found on the heap on request and not registered anywhere.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import { Session } from "node:inspector/promises"
import process from "node:process"
import { Readable } from "node:stream"
import * as v8 from "node:v8"
import type { FiberState, Profiler } from "../layers/Process.ts"

/** Connects the inspector for as long as `use` runs. */
const withSession = <A>(use: (session: Session) => Effect.Effect<A>): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const session = new Session()
      session.connect()
      return session
    }),
    use,
    (session) => Effect.sync(() => session.disconnect())
  )

const cpuProfile = (seconds: number): Effect.Effect<string> =>
  withSession((session) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => session.post("Profiler.enable"))
      yield* Effect.promise(() => session.post("Profiler.start"))
      yield* Effect.sleep(Duration.seconds(seconds))
      const { profile } = yield* Effect.promise(() => session.post("Profiler.stop"))
      return JSON.stringify(profile)
    })
  )

/** The collection that V8 runs when the operating system is short of memory. It also compacts the heap, unlike `gc()` of `--expose-gc`. */
export const collectGarbage: Effect.Effect<void> = withSession((session) =>
  Effect.promise(() => session.post("HeapProfiler.collectGarbage"))
)

/** The inspector evaluates text; through this global symbol the text refers to our object. */
const globalKey = Symbol.for("effect-controller-manager/inspector")

/** All fibers on the heap. */
const fibers: Effect.Effect<ReadonlyArray<FiberState>> = withSession((session) =>
  Effect.gen(function* () {
    const self = Fiber.getCurrent()
    const found: Array<Fiber.Fiber<unknown, unknown>> = []
    const exchange = {
      prototype: self === undefined ? undefined : (Object.getPrototypeOf(self) as unknown),
      take: (all: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) => void found.push(...all)
    }
    const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(globalKey))})]`
    yield* Effect.acquireUseRelease(
      Effect.sync(() => Object.assign(globalThis, { [globalKey]: exchange })),
      () =>
        Effect.promise(async () => {
          const { result } = await session.post("Runtime.evaluate", { expression: `${expression}.prototype` })
          const { objects } = await session.post("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" })
          await session.post("Runtime.callFunctionOn", {
            objectId: objects.objectId ?? "",
            functionDeclaration: `function () { ${expression}.take(this) }`
          })
        }),
      () => Effect.sync(() => Reflect.deleteProperty(globalThis, globalKey))
    )
    return found.filter((fiber) => fiber !== self && fiber.pollUnsafe() === undefined).map(stateOf)
  })
)

const stateOf = (fiber: Fiber.Fiber<unknown, unknown>): FiberState => {
  const calls: Array<string> = []
  for (let frame = fiber.cache.stackFrame; frame !== undefined && calls.length < 20; frame = frame.parent) {
    calls.push(frame.name)
  }
  const { span } = fiber.cache
  if (span?._tag === "Span") calls.push(`span ${span.name}`)
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  return { id: fiber.id, annotations: annotations.map(([name, value]) => `${name}=${String(value)}`), calls }
}

export const profiler: Profiler = {
  cpuProfile,
  heapSnapshot: Effect.sync(() =>
    // Node creates the whole snapshot before the first byte can be read; after that the reader sets the pace.
    Stream.fromReadableStream({
      evaluate: () => Readable.toWeb(v8.getHeapSnapshot()) as ReadableStream<Uint8Array>,
      onError: (error) => error
    })
  ),
  heapStatistics: Effect.sync(() => ({
    process: process.memoryUsage(),
    heap: v8.getHeapStatistics(),
    spaces: v8.getHeapSpaceStatistics()
  })),
  fibers
}
