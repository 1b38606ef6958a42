/**
 * A naive model of the keyed queue: one array, searched and sorted at every step. The property runs the state machine and this model with
 * the same random operations and compares everything observable after each. The model follows the documentation of the queue, not its
 * code.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as QueueState from "../../../src/streams/queue/queueState.ts"

interface Item {
  readonly key: string
  place: "waiting" | "ready" | "flight"
  priority: number
  due: number
  /** Order of becoming ready, or of getting the due time. */
  order: number
  since: number
  again: { priority: number; due: number } | undefined
}

export class Model {
  now = 0
  items: Array<Item> = []
  failures: Record<string, number> = {}
  mode: "open" | "draining" | "stopped" = "open"
  private order = 0

  find(key: string): Item | undefined {
    return this.items.find((item) => item.key === key)
  }

  in(place: Item["place"]): Array<Item> {
    return this.items.filter((item) => item.place === place)
  }

  add(key: string, priority: number, delay: number): boolean {
    if (this.mode !== "open") return false
    const due = this.now + Math.max(0, delay)
    const item = this.find(key)
    if (item === undefined) {
      this.items.push(this.placed({ key, priority, due, place: "waiting", order: 0, since: 0, again: undefined }))
    } else if (item.place === "flight") {
      const again = item.again ?? { priority, due }
      item.again = { priority: Math.max(again.priority, priority), due: Math.min(again.due, due) }
    } else {
      const raised = priority > item.priority
      item.priority = Math.max(item.priority, priority)
      if (item.place === "ready" && raised) this.placed(item)
      if (item.place === "waiting" && due < item.due) this.placed(Object.assign(item, { due }))
    }
    return true
  }

  private placed(item: Item): Item {
    item.place = item.due <= this.now ? "ready" : "waiting"
    item.order = ++this.order
    item.since = this.now
    return item
  }

  retry(key: string, priority: number, after: number): number | undefined {
    if (this.mode !== "open") return undefined
    const failures = this.failures[key] ?? 0
    this.failures[key] = failures + 1
    const delay = Math.min(5 * 2 ** failures, 1_000_000, after)
    this.add(key, priority, delay)
    return delay
  }

  take(aging: boolean): string | undefined {
    const rank = (item: Item): number => {
      if (!aging || item.priority >= 0) return item.priority
      return Math.min(0, item.priority + 20 * Math.floor((this.now - item.since) / 30_000))
    }
    const [best] = this.in("ready").sort((a, b) => rank(b) - rank(a) || a.order - b.order)
    if (best !== undefined) best.place = "flight"
    return best?.key
  }

  done(key: string, again = this.find(key)?.again): void {
    const item = this.find(key)
    if (item === undefined || item.place !== "flight") return
    this.items = this.items.filter((other) => other !== item)
    if (again === undefined || this.mode === "stopped") return
    this.items.push(this.placed({ ...item, ...again, again: undefined }))
  }

  release(key: string): void {
    const item = this.find(key)
    if (item === undefined) return
    this.done(key, { priority: Math.max(item.priority, item.again?.priority ?? -Infinity), due: this.now })
  }

  advance(millis: number): void {
    this.now += millis
    const due = this.in("waiting").filter((item) => item.due <= this.now)
    for (const item of due.sort((a, b) => a.due - b.due || a.order - b.order)) this.placed(item)
  }

  shutdown(drain: boolean): void {
    if (this.mode === "stopped" || (drain && this.mode === "draining")) return
    this.mode = drain ? "draining" : "stopped"
    this.failures = {}
    this.items = this.items.filter((item) => item.place === "flight" || (drain && item.place === "ready"))
    for (const item of this.items) if (item.again && (!drain || item.again.due > this.now)) item.again = undefined
  }

  get quiet(): boolean {
    return this.items.every((item) => item.place === "waiting")
  }

  get ended(): boolean {
    return this.mode === "stopped" || (this.mode === "draining" && this.quiet)
  }
}

const int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const key = Schema.Literals(["a", "b", "c", "d", "e", "f"])
const priority = Schema.Literals([0, -100, 0, 10, -30, 0])
const delay = Schema.Literals([0, 3, 5, 20, 1000, 70_000])

export const Operation = Schema.Union([
  Schema.Struct({ do: Schema.Literals(["add", "later", "retry", "add"]), key, priority, delay }),
  Schema.Struct({ do: Schema.Literals(["take", "take", "doneFirst", "doneLast", "release", "forget"]), key }),
  Schema.Struct({ do: Schema.Literal("advance"), millis: int(0, 60_000) }),
  Schema.Struct({ do: Schema.Literals(["advance"]), millis: int(1, 20) }),
  Schema.Struct({ do: Schema.Literal("shutdown"), drain: Schema.Boolean, when: int(0, 30) })
])
type Operation = typeof Operation.Type

export const operations = Arbitrary.array(Arbitrary.schema(Operation), { maxLength: 300 })

/** The state machine with a clock and a timer that are numbers. */
const harness = (model: Model, aging: boolean) => {
  const seen = { ready: 0, quiet: 0 }
  let armed = Infinity
  const state: QueueState.QueueState<string> = new QueueState.QueueState<string>({
    now: () => model.now,
    backoff: (failures) => Math.min(1_000_000, 5 * 2 ** failures),
    aging: aging ? { levels: 20, interval: 30_000 } : undefined,
    onReady: () => void seen.ready++,
    onQuiet: () => void seen.quiet++,
    onDelay: (due) => {
      armed = Math.min(armed, due)
    }
  })
  const fire = (): void => {
    if (armed > model.now) return
    while (state.nextDue() <= model.now) state.releaseDue(2)
    armed = state.nextDue()
  }
  return { state, seen, fire }
}

const check = (what: string, actual: unknown, expected: unknown): void => {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return
  throw new Error(`${what}: got ${JSON.stringify(actual)}, the model says ${JSON.stringify(expected)}`)
}

export const steps = { count: 0 }

/** Throws at the first difference between the machine and the model. */
export const agrees = (program: ReadonlyArray<Operation>, aging: boolean): void => {
  const model = new Model()
  const { state, seen, fire } = harness(model, aging)
  const held: Array<string> = []
  const both = (operation: Operation): void => {
    switch (operation.do) {
      case "add":
        return check(
          "add",
          state.add(operation.key, operation.priority, 0),
          model.add(operation.key, operation.priority, 0)
        )
      case "later": {
        const { delay, key, priority } = operation
        return check("add later", state.add(key, priority, delay), model.add(key, priority, delay))
      }
      case "retry": {
        const { key, priority } = operation
        const after = operation.delay <= 20 ? operation.delay : Infinity
        return check("retry", state.retry(key, priority, after), model.retry(key, priority, after))
      }
      case "take": {
        const taken = state.take()
        check("take", taken, model.take(aging))
        if (taken !== undefined && held.includes(taken)) throw new Error(`${taken} handed out twice`)
        if (taken !== undefined) held.push(taken)
        return
      }
      case "doneFirst":
      case "doneLast": {
        // Sometimes the key is not in flight, which must change nothing.
        const key = (operation.do === "doneFirst" ? held.shift() : held.pop()) ?? operation.key
        state.done(key)
        return model.done(key)
      }
      case "release": {
        const key = held.shift()
        if (key === undefined) return
        state.release(key)
        return model.release(key)
      }
      case "forget":
        state.forget(operation.key)
        delete model.failures[operation.key]
        return
      case "advance":
        model.advance(operation.millis)
        return fire()
      case "shutdown":
        // Rare, so that most programs run with an open queue.
        if (operation.when > 0) return
        state.shutdown(operation.drain)
        return model.shutdown(operation.drain)
    }
  }
  for (const operation of program) {
    steps.count++
    const before = {
      ready: seen.ready,
      quiet: seen.quiet,
      keys: readyKeys(model),
      isQuiet: model.quiet,
      ended: model.ended
    }
    both(operation)
    compare(state, model)
    const becameReady = readyKeys(model).some((key) => !before.keys.includes(key))
    if ((becameReady || (model.ended && !before.ended)) && seen.ready === before.ready)
      throw new Error("wake-up dropped")
    if (model.quiet && !before.isQuiet && seen.quiet === before.quiet) throw new Error("idle not told")
  }
}

const readyKeys = (model: Model): Array<string> => model.in("ready").map((item) => item.key)

const compare = (state: QueueState.QueueState<string>, model: Model): void => {
  const { failing, processing, ready, waiting } = state.stats()
  check(
    "sizes",
    { ready, waiting, processing, failing },
    {
      ready: model.in("ready").length,
      waiting: model.in("waiting").length,
      processing: model.in("flight").length,
      failing: Object.keys(model.failures).length
    }
  )
  check("next due time", state.nextDue(), Math.min(Infinity, ...model.in("waiting").map((item) => item.due)))
  check("ended", [state.ended, state.isQuiet, state.hasReady], [model.ended, model.quiet, model.in("ready").length > 0])
  for (const key of ["a", "b", "c", "d", "e", "f"]) {
    check(`priority of ${key}`, state.priority(key), model.find(key)?.priority)
    check(`failures of ${key}`, state.failures(key), model.failures[key] ?? 0)
  }
}
