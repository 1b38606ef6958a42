/**
 * Replicas that share the work, as processes on one machine: a controller whose reconcile waits 10 ms on something else, and 20,000 objects. The figures are
 * ratios in one run, of several replicas to one. The first thousands of reconciles of a process cost more, because its code is being compiled, so both are
 * measured after a warm-up: what a reconcile costs the processor, and how long all objects take.
 */
import type { Figure } from "./figure.ts"
import * as Replicas from "./replicas.ts"
import type { State } from "./shardedReplica.ts"
import { bundled, create, send, serve, type Server } from "./server.ts"
import { number, percent, table } from "./table.ts"

export const objects = 20_000
const sizes = [1, 2, 4, 8]

/** Reconciles of each replica in a round: fewer than a replica has objects. */
const keys = 2000
/** After two of them, what a reconcile costs does not fall any more. */
const rounds = { warmUp: 2, counted: 5 }

/** Changes of objects by another client, in a round. */
const changes = { count: 4000, perSecond: 400 }

/** Of a fleet. Processor times are microseconds. */
export interface Measured {
  readonly size: number
  /** Reconciles a second of all objects, after the warm-up, and right after the start. */
  readonly rate: number
  readonly firstRate: number
  /** Objects of the replica that has most, over the mean: shards are whole. */
  readonly most: number
  /** For each reconcile right after the start. */
  readonly first: number
  /** The same, as the first replica went on. */
  readonly warmUp: ReadonlyArray<Part>
  /** For each reconcile later, by round. */
  readonly later: ReadonlyArray<number>
  /** Of a replica in a second at rest, and while objects change `changes.perSecond` times a second. */
  readonly rest: number
  readonly changing: number
  /** Changes a second, as they were. */
  readonly changesPerSecond: number
  /** Of a replica. */
  readonly residentMiB: number
}

const configMaps = "/api/v1/namespaces/default/configmaps"

const configMap = (index: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `settings-${index}`, namespace: "default" },
  data: { value: String(index) }
})

/** An API server with the objects, until the function has ended. */
export const withObjects = async <A>(use: (server: Server) => Promise<A>): Promise<A> => {
  const server = await serve()
  try {
    await create(server, configMaps, { from: 0, objects, connections: 12 }, configMap)
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** Where the first reconciles of a process are cut into parts. */
const parts = [1000, 2500, 5000, 10_000, objects]

/** Microseconds of the processor for each reconcile in a part. */
export interface Part {
  readonly until: number
  readonly main: number
  readonly others: number
}

const isAll = (states: ReadonlyArray<State>): boolean => Replicas.sum(states, ({ reconciled }) => reconciled) >= objects

const perSecond = (states: ReadonlyArray<State>): number =>
  (objects * 1000) / Math.max(...states.map(({ last }) => last.millis))

/** All objects once after the start. */
export const reconcileAll = async (fleet: Replicas.Fleet) => {
  const [first] = fleet.replicas
  let last = { reconciled: 0, ...Replicas.threadsOf(first!) }
  const warmUp: Array<Part> = []
  const states = await fleet.measure({}, (all) => {
    const { reconciled } = all[0]!
    if (reconciled >= (parts[warmUp.length] ?? Infinity)) {
      const now = { reconciled, ...Replicas.threadsOf(first!) }
      const each = (of: "main" | "others") => ((now[of] - last[of]) * 1000) / (reconciled - last.reconciled)
      warmUp.push({ until: reconciled, main: each("main"), others: each("others") })
      last = now
    }
    return isAll(all)
  })
  return {
    warmUp,
    firstRate: perSecond(states),
    first: (Replicas.sum(states, ({ last }) => last.cpu) * 1000) / objects
  }
}

/** All objects once more. */
const reconcileAgain = async (fleet: Replicas.Fleet) => {
  const states = await fleet.measure({ keys: objects }, isAll)
  const most = Math.max(...states.map(({ reconciled }) => reconciled))
  return { rate: perSecond(states), most: (most * states.length) / objects }
}

/** Microseconds of the processor for each reconcile, while every replica does as many. */
export const reconcileSome = async (fleet: Replicas.Fleet, keys: number): Promise<number> => {
  const states = await fleet.measure({ keys }, (all) => all.every(({ reconciled }) => reconciled >= keys))
  return (Replicas.sum(states, ({ last }) => last.cpu) * 1000) / (keys * states.length)
}

/** Microseconds of the processor in a second of a replica. */
const use = async (fleet: Replicas.Fleet, isOver: Parameters<Replicas.Fleet["measure"]>[1]) => {
  const states = await fleet.measure({}, isOver)
  const seconds = Replicas.sum(states, ({ now }) => now.millis) / 1000
  return { each: (Replicas.sum(states, ({ now }) => now.cpu) * 1000) / seconds, seconds: seconds / states.length }
}

let value = 0
/** Another client changes objects, each of which one replica reconciles, and all of them receive. */
const changeSome = async (server: Server, fleet: Replicas.Fleet) => {
  const done = send(server, { connections: 12, from: value, ...changes }, (index) => ({
    method: "PATCH",
    path: `${configMaps}/settings-${(index * 7919) % objects}`,
    body: { data: { value: `changed ${value++}` } }
  }))
  const { each, seconds } = await use(
    fleet,
    (all) => Replicas.sum(all, ({ reconciled }) => reconciled) >= changes.count
  )
  await done
  return { changing: each, changesPerSecond: changes.count / seconds }
}

export const measure = async (server: Server): Promise<ReadonlyArray<Measured>> => {
  const file = await bundled("shardedReplica")
  const fleets: Array<{ readonly fleet: Replicas.Fleet } & Awaited<ReturnType<typeof reconcileAll>>> = []
  for (const size of sizes) {
    const fleet = await Replicas.start(file, server, size)
    fleets.push({ fleet, ...(await reconcileAll(fleet)) })
  }
  // In turns, so that other work of the machine meets all fleets.
  const later = fleets.map((): Array<number> => [])
  for (let round = 0; round < rounds.warmUp + rounds.counted; round++)
    for (const [index, { fleet }] of fleets.entries()) {
      const cost = await reconcileSome(fleet, keys)
      if (round >= rounds.warmUp) later[index]!.push(cost)
    }
  const all: Array<Awaited<ReturnType<typeof reconcileAgain>>> = []
  for (const { fleet } of fleets) all.push(await reconcileAgain(fleet))
  const measured: Array<Measured> = []
  for (const [index, { fleet, ...first }] of fleets.entries()) {
    const { each: rest } = await use(fleet, (all) => all.every(({ now }) => now.millis >= 10_000))
    const changed = await changeSome(server, fleet)
    const residentMiB = Replicas.sum(fleet.replicas, ({ state }) => state?.residentMiB ?? 0) / fleet.replicas.length
    const size = fleet.replicas.length
    measured.push({ size, ...first, ...all[index]!, later: later[index]!, rest, ...changed, residentMiB })
  }
  for (const { fleet } of fleets) await fleet.stop()
  return measured
}

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Microseconds of the processor of each replica for a change of an object that one of them reconciles. */
export const changing = ({ changesPerSecond, changing: all, rest }: Measured): number => (all - rest) / changesPerSecond

const print = (fleets: ReadonlyArray<Measured>, one: Measured): void => {
  table(
    [
      "Replicas",
      "Reconciles a second",
      "Of linear",
      "Right after the start",
      "Most objects of a replica",
      "Processor for each reconcile",
      "The same, first ones",
      "For each change",
      "At rest"
    ],
    fleets.map((each) => [
      number(each.size),
      number(each.rate),
      number(each.rate / one.rate / each.size, 2),
      number(each.firstRate / one.firstRate / each.size, 2),
      `${number(each.most, 2)} of the mean`,
      `${number(median(each.later))} µs`,
      `${number(each.first)} µs`,
      `${number(changing(each))} µs`,
      percent(each.rest)
    ])
  )
  table(
    [
      "Reconciles of a process",
      "Processor of the thread of JavaScript",
      "of the threads that compile and collect garbage"
    ],
    one.warmUp.map(({ main, others, until }) => [
      `until ${number(until)}`,
      `${number(main)} µs`,
      `${number(others)} µs`
    ])
  )
}

const figuresOf = (one: Measured, many: Measured): ReadonlyArray<Figure> => {
  const share = many.rate / one.rate / many.size
  const cost = median(many.later.map((cpu, round) => cpu / one.later[round]!))
  const name = (what: string) => `sharding: ${what} of ${many.size} replicas`
  return [
    {
      name: `${name("reconciles a second")}, as a share of ${many.size} times one`,
      value: share,
      unit: `(${Math.round(many.rate)} a second)`,
      bar: "≥ 0.9",
      ok: share >= 0.9
    },
    {
      name: name("the same right after the start"),
      value: many.firstRate / one.firstRate / many.size,
      unit: `(${Math.round(many.firstRate)} a second)`,
      bar: "none: the code is being compiled",
      ok: true
    },
    {
      name: `${name("processor for each reconcile")}, over one`,
      value: cost,
      unit: `(${Math.round(median(many.later))} µs)`,
      bar: "≤ 1.1",
      ok: cost <= 1.1
    },
    {
      name: `${name(`the same for the first ${objects / many.size} of each`)}, over the first ${objects} of one`,
      value: many.first / one.first,
      unit: `(${Math.round(many.first)} µs)`,
      bar: "none: the code is being compiled",
      ok: true
    }
  ]
}

export const run = async (): Promise<Array<Figure>> => {
  const fleets = await withObjects(measure)
  const [one, ...more] = fleets
  if (one === undefined) return []
  print(fleets, one)
  return more.flatMap((many) => figuresOf(one, many))
}
