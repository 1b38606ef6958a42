/** Messages of a large program: 20,000 pods on 200 nodes, 40 controllers with full queues, 150 informers, and an object with a timeline as long as it can be. */
import type {
  Controller,
  Informer,
  LeaderGroup,
  Message,
  ObjectView,
  Pod,
  QueuedKey,
  TimelineEntry
} from "../../../../src/manager/console/protocol.ts"
import { controllers, messages, object, pod } from "./figures.ts"

export const pods = 20_000
const nodes = 200
/** The server sends at most so many pods in one message. */
const chunk = 1000
/** The most entries of a timeline, and the most dependants, that the server sends. */
const [entries, dependants] = [500, 200]

const nothing = { reset: false, changed: [], removed: [] }

const podAt = (at: number, of: Partial<Pod> = {}) =>
  pod(`shop/web-${at}`, `worker-${at % nodes}`, { owner: `ReplicaSet/web-${at % 1000}`, ...of })

const cluster = (now: number): ReadonlyArray<Message> => {
  const workers = Array.from({ length: nodes }, (_, at) => ({ name: `worker-${at}`, ready: true, schedulable: true }))
  return Array.from({ length: pods / chunk }, (_, part): Message => {
    const reset = part === 0
    const changed = Array.from({ length: chunk }, (_, at) => podAt(part * chunk + at))
    return {
      type: "cluster",
      at: now,
      nodes: reset ? { reset, changed: workers, removed: [] } : nothing,
      pods: { reset, ...(reset ? {} : { rest: true }), changed, removed: [] }
    }
  })
}

/** Changes of so many pods; other ones for each number of a batch. */
export const change = (now: number, batch: number, count: number): Message => ({
  type: "cluster",
  at: now,
  nodes: nothing,
  pods: {
    reset: false,
    changed: Array.from({ length: count }, (_, at) =>
      podAt((batch * 7919 + at * 104_729) % pods, {
        ready: batch % 2 === 0,
        phase: batch % 2 === 0 ? "Running" : "Pending"
      })
    ),
    removed: []
  }
})

/** Twenty keys of each sort, as many as the server sends. */
const keysAt = (now: number): ReadonlyArray<QueuedKey> =>
  Array.from({ length: 20 }, (_, at): ReadonlyArray<QueuedKey> => [
    { state: "running", key: `shop/running-${at}`, since: now - at * 100 },
    { state: "ready", key: `shop/ready-${at}`, priority: 0, since: now - at * 100 },
    { state: "delayed", key: `shop/delayed-${at}`, due: now + at * 1000, failures: at % 3 }
  ]).flat()

/** The figures of one second: each of them differs from those of the second before. */
export const figures = (now: number, second: number): ReadonlyArray<Message> => {
  const [pattern] = (controllers(now) as { readonly controllers: ReadonlyArray<Controller> }).controllers
  const all = Array.from({ length: 40 }, (_, at) => ({
    ...(pattern as Controller),
    name: `controller-${at}`,
    runs: 1000 + second * (10 + at),
    keys: keysAt(now)
  }))
  const informers = Array.from({ length: 150 }, (_, at): Informer => ({
    kind: `kind-${at}.example.test`,
    scope: "everywhere",
    synced: true,
    objects: 20_000 + second,
    bytes: 3_500_000 + second,
    lastEventAt: now,
    failuresInARow: 0,
    failures: second,
    relists: second,
    lastError: null,
    subscribers: 3
  }))
  const groups = Array.from({ length: 8 }, (_, at): LeaderGroup => ({
    lease: `kube-system/manager-${at}`,
    identity: "host-a",
    leader: "host-a",
    leads: true,
    validFor: 15_000 - (second % 2) * 2000,
    terms: 1,
    since: now - 600_000,
    transitions: 1,
    renewals: Array.from({ length: 60 }, (_, at) => ({
      at: now - at * 2000,
      took: 5 + second,
      isRenewed: true
    })).toReversed(),
    lastError: null,
    controllers: all.slice(at * 5, at * 5 + 5).map(({ name }) => name)
  }))
  return [
    { type: "controllers", at: now, disabled: [], controllers: all },
    { type: "informers", at: now, informers },
    { type: "leadership", at: now, groups, fencedWrites: second }
  ]
}

/** What a stream begins with. */
export const first = (now: number): ReadonlyArray<Message> => [
  ...messages(now).filter(({ type }) => type === "hello"),
  ...figures(now, 0),
  ...cluster(now)
]

/** A timeline that moves on by one entry each second. */
export const longObject = (now: number, second: number): ObjectView => {
  const pattern = object(now)
  return {
    ...pattern,
    dependants: {
      more: 0,
      objects: Array.from({ length: dependants }, (_, at) => ({
        resource: "pods",
        kind: "Pod",
        key: `shop/web-${at}`,
        state: "Running",
        next: { objects: [], more: 0 }
      }))
    },
    timeline: Array.from({ length: entries }, (_, at): TimelineEntry => {
      const of = second + at
      const entry = pattern.timeline[of % pattern.timeline.length] as TimelineEntry
      const moved = { ...entry, id: of, at: now - (entries - at) * 1000 }
      return moved.type === "change" ? moved : { ...moved, causes: [of - 1] }
    })
  }
}
