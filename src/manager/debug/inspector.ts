/**
 * Pictures of the process from V8's own inspector, which is connected only while one is taken, and from its heap statistics. It costs
 * nothing otherwise: fibers, for one, are found on the heap at the request and are in no list before. Platform edge.
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
import type { Seen } from "./fiberDump.ts"
import type { Platform } from "./profiles.ts"

/** Of this process. */
export const platform = (commandLine: ReadonlyArray<string>): Platform => ({
  cpuProfile,
  heapSnapshot: Effect.sync(() =>
    // Node has written all of it before the first byte is read; from here on it goes as fast as it is read.
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
  fibers,
  commandLine
})

/** Connected for as long as `use` runs, however that ends. */
const connected = <A>(use: (session: Session) => Effect.Effect<A>): Effect.Effect<A> =>
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
  connected((session) =>
    Effect.gen(function* () {
      yield* Effect.promise(() => session.post("Profiler.enable"))
      yield* Effect.promise(() => session.post("Profiler.start"))
      yield* Effect.sleep(Duration.seconds(seconds))
      const { profile } = yield* Effect.promise(() => session.post("Profiler.stop"))
      return JSON.stringify(profile)
    })
  )

/** The global by which an expression of the inspector, which is a text, finds the object. */
const meeting = Symbol.for("effect-controller-manager/inspector")

/** All objects of the fibers' class that are alive. */
const fibers: Effect.Effect<ReadonlyArray<Seen>> = connected((session) =>
  Effect.gen(function* () {
    const self = Fiber.getCurrent()
    const found: Array<Fiber.Fiber<unknown, unknown>> = []
    const place = {
      prototype: self === undefined ? undefined : (Object.getPrototypeOf(self) as unknown),
      take: (all: ReadonlyArray<Fiber.Fiber<unknown, unknown>>) => void found.push(...all)
    }
    const expression = `globalThis[Symbol.for(${JSON.stringify(Symbol.keyFor(meeting))})]`
    yield* Effect.acquireUseRelease(
      Effect.sync(() => Object.assign(globalThis, { [meeting]: place })),
      () =>
        Effect.promise(async () => {
          const { result } = await session.post("Runtime.evaluate", { expression: `${expression}.prototype` })
          const { objects } = await session.post("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" })
          await session.post("Runtime.callFunctionOn", {
            objectId: objects.objectId ?? "",
            functionDeclaration: `function () { ${expression}.take(this) }`
          })
        }),
      () => Effect.sync(() => Reflect.deleteProperty(globalThis, meeting))
    )
    return found.filter((fiber) => fiber !== self && fiber.pollUnsafe() === undefined).map(seen)
  })
)

const seen = (fiber: Fiber.Fiber<unknown, unknown>): Seen => {
  const calls: Array<string> = []
  for (let frame = fiber.cache.stackFrame; frame !== undefined && calls.length < 20; frame = frame.parent) {
    calls.push(frame.name)
  }
  const { span } = fiber.cache
  if (span?._tag === "Span") calls.push(`span ${span.name}`)
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  return { id: fiber.id, annotations: annotations.map(([name, value]) => `${name}=${String(value)}`), calls }
}
