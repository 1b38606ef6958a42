/**
 * The entries of all maps and sets that modules of `src` have made since this module was loaded, by module: expectations, indexes, correlators, queues,
 * whatever it is. Nothing registers itself: the constructors of this process are replaced. A collection that the garbage collector has freed is not counted.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

interface Made {
  /** The module, from `src` on. */
  readonly module: string
  readonly collection: WeakRef<ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>>
}

let made: Array<Made> = []

/** Deep enough for a collection that Effect makes for a module of `src`. */
const frames = 12

/** Tests alone run on the scheduler of `Quiescence`, which is at the bottom of every stack. */
const ofProgram = /^(?!.*\/node_modules\/).*\/src\/((?!apiserver|simulation|testing|layers\/Quiescence)[a-z]+\/.*\.ts)$/

/** The first module of `src` on the stack that is part of the program. The name of a file is read without source maps, which would take most of the time. */
const caller = (): string | undefined => {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = frames
  Error.prepareStackTrace = (_, sites) => sites
  const sites = new Error().stack as unknown as ReadonlyArray<NodeJS.CallSite>
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  for (const site of sites) {
    const module = ofProgram.exec(site.getFileName() ?? "")?.[1]
    if (module !== undefined) return module
  }
  return undefined
}

const recording = <C extends MapConstructor | SetConstructor>(constructor: C): C =>
  new Proxy(constructor, {
    construct: (target, parameters, newTarget) => {
      const collection = Reflect.construct(target, parameters, newTarget) as Map<unknown, unknown>
      const module = caller()
      if (module !== undefined) made.push({ module, collection: new WeakRef(collection) })
      return collection
    }
  })

globalThis.Map = recording(Map)
globalThis.Set = recording(Set)

setFlagsFromString("--expose-gc")
const collect = runInNewContext("gc") as () => void

/** Entries by module, after a garbage collection; modules without entries are left out. */
export const held = async (): Promise<ReadonlyMap<string, number>> => {
  // What the present task has read through a weak reference is kept until it ends.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  const sizes = new Map<string, number>()
  made = made.filter(({ collection, module }) => {
    const size = collection.deref()?.size
    if (size !== undefined && size > 0) sizes.set(module, (sizes.get(module) ?? 0) + size)
    return size !== undefined
  })
  return sizes
}
