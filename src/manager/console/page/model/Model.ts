/** What the page knows of the program: the latest message of each type, and samples of five minutes. Views subscribe to topics, which are flushed once a frame. */
import type { Controller, Informer, LeaderGroup, Message, Program } from "../../protocol.ts"
import { Cluster } from "./Cluster.ts"
import { Samples } from "./Samples.ts"

export type Topic = Message["type"] | "connection" | "clock" | "route"

export interface ControllerSamples {
  readonly rate: Samples
  readonly errors: Samples
  readonly depth: Samples
  /** Of the last message that had any. */
  latency: Pick<Controller, "p50" | "p99">
}

/** At most this often are the views of nodes and pods rendered. */
const clusterInterval = 200

/** The program sends the figures of the controllers at most once a second, and only when one has changed. */
const quiet = 1500

const newSamples = (): ControllerSamples => ({
  rate: new Samples(),
  errors: new Samples(),
  depth: new Samples(),
  latency: { p50: null, p99: null }
})

export const depthOf = ({ queue }: Controller): number => queue.ready + queue.delayed + queue.processing

export class Model {
  program: Program | undefined
  controllers: ReadonlyArray<Controller> | undefined
  disabled: ReadonlyArray<string> = []
  informers: ReadonlyArray<Informer> | undefined
  groups: ReadonlyArray<LeaderGroup> | undefined
  fencedWrites = 0
  cluster: Cluster | undefined
  /** Of each controller, by name. */
  readonly samples = new Map<string, ControllerSamples>()
  /** Of all controllers. */
  total = newSamples()
  readonly #runs = new Map<string, { readonly at: number; readonly runs: number; readonly failures: number }>()
  readonly #listeners = new Map<Topic, Set<() => void>>()
  readonly #changed = new Set<Topic>()
  #isScheduled = false
  #isClusterDue = false
  #ahead = 0
  #sampledAt = 0

  /** The time of the server. */
  now(): number {
    return Date.now() + this.#ahead
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Listeners of the topic are called in the next frame. */
  touch(topic: Topic): void {
    this.#changed.add(topic)
    if (this.#isScheduled) return
    this.#isScheduled = true
    requestAnimationFrame(() => {
      this.#isScheduled = false
      const topics = [...this.#changed]
      this.#changed.clear()
      for (const topic of topics) for (const listener of this.#listeners.get(topic) ?? []) listener()
    })
  }

  /** Called once a second while the stream is open. A second without a message is one without runs. */
  tick(): void {
    const now = this.now()
    if (this.controllers !== undefined && now - this.#sampledAt >= quiet) this.#sample(now, this.controllers)
    this.touch("clock")
  }

  receive(message: Message): void {
    if ("at" in message) this.#ahead = message.at - Date.now()
    switch (message.type) {
      case "hello":
        if (this.program !== undefined && this.program.startedAt !== message.program.startedAt) this.#forget()
        this.program = message.program
        break
      case "controllers":
        this.controllers = message.controllers
        this.disabled = message.disabled
        this.#sample(message.at, message.controllers)
        break
      case "informers":
        this.informers = message.informers
        break
      case "leadership":
        this.groups = message.groups
        this.fencedWrites = message.fencedWrites
        break
      case "cluster":
        this.cluster ??= new Cluster()
        this.cluster.apply(message.at, message.nodes, message.pods)
        if (this.#isClusterDue) return
        this.#isClusterDue = true
        setTimeout(() => {
          this.#isClusterDue = false
          this.touch("cluster")
        }, clusterInterval)
        return
      default:
        return
    }
    this.touch(message.type)
  }

  /** Another process answers: its counters began at zero. */
  #forget(): void {
    this.#runs.clear()
    this.samples.clear()
    this.total = newSamples()
    this.cluster = undefined
  }

  #sample(at: number, controllers: ReadonlyArray<Controller>): void {
    this.#sampledAt = at
    const total = { rate: 0, errors: 0, depth: 0 }
    for (const controller of controllers) {
      const { failures, name, runs } = controller
      const before = this.#runs.get(name)
      if (before !== undefined && at <= before.at) continue
      this.#runs.set(name, { at, runs, failures })
      const samples = this.samples.get(name) ?? newSamples()
      this.samples.set(name, samples)
      const depth = depthOf(controller)
      samples.depth.add(at, depth)
      if (controller.p50 !== null) samples.latency = controller
      total.depth += depth
      if (before === undefined) continue
      const seconds = (at - before.at) / 1000
      const rate = Math.max(0, runs - before.runs) / seconds
      const errors = Math.max(0, failures - before.failures) / seconds
      samples.rate.add(at, rate)
      samples.errors.add(at, errors)
      total.rate += rate
      total.errors += errors
    }
    const names = new Set(controllers.map(({ name }) => name))
    for (const name of this.samples.keys()) {
      if (names.has(name)) continue
      this.samples.delete(name)
      this.#runs.delete(name)
    }
    this.total.rate.add(at, total.rate)
    this.total.errors.add(at, total.errors)
    this.total.depth.add(at, total.depth)
  }
}

export const groupId = (group: LeaderGroup): string => group.lease ?? `without a lease: ${group.controllers[0] ?? ""}`
