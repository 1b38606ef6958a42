/**
 * The rotation of certificates under random operation sequences: replicas and leaders read and write in any interleaving, stop at any
 * point, and continue with stale data: the API server trusts the serving certificate by the authorities that were published last, or a while before.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Rotation from "../../../../src/manager/webhooks/certificates/rotation.ts"
import { checkProperty, int, oneOf } from "../../../support/property.ts"

type Module = typeof Rotation

const day = 86_400_000
const replicas = 3

interface Bundle {
  readonly ids: ReadonlyArray<string>
  readonly version: number
}

/** The state of a leader between two of its requests. */
interface LeaderState {
  configuration?: Bundle
  secret?: { readonly state: Rotation.State | undefined; readonly version: number }
  published?: { readonly caBundle: string; readonly since: number }
}

/** A cluster of one Secret, one configuration, and replicas that serve the certificate they have read last. */
class Model {
  now = 1_700_000_000_000
  secret: { state: Rotation.State | undefined; version: number } = { state: undefined, version: 0 }
  configuration: Bundle = { ids: [], version: 0 }
  /** Authorities in API servers with stale caches, with the time until which they may be stale. */
  stale: Array<{ readonly ids: ReadonlyArray<string>; readonly until: number }> = []
  readonly serving: Array<Rotation.Serving | undefined> = Array.from({ length: replicas }, () => undefined)
  readonly leaders: Array<LeaderState> = Array.from({ length: replicas }, () => ({}))
  made = 0
  /** How often the first authority was created. */
  starts = 0
  /** The first violation. */
  wrong: string | undefined

  readonly module: Module
  readonly names: ReadonlyArray<string>

  constructor(module: Module, names: ReadonlyArray<string>) {
    this.module = module
    this.names = names
  }

  private authority(): Rotation.Authority {
    return { id: `authority-${++this.made}`, ...this.module.validity(this.now, this.module.lifetimes.authority) }
  }

  private sign(by: Rotation.Authority): Rotation.Serving {
    const validity = this.module.validity(this.now, this.module.lifetimes.serving, by)
    return { issuer: by.id, names: this.names, ...validity }
  }

  /** The Secret after a step, unless another replica has written it since it was read. */
  write(step: Exclude<Rotation.Step, "Publish">, read: NonNullable<LeaderState["secret"]>): void {
    if (read.version !== this.secret.version) return
    const { state } = read
    if (step === "Start" || state === undefined) {
      this.starts++
      const one = this.authority()
      this.secret = { state: { authorities: [one], serving: this.sign(one) }, version: read.version + 1 }
      return
    }
    const { authorities, serving } = state
    const next: Record<Exclude<Rotation.Step, "Publish" | "Start">, () => Rotation.State> = {
      Succeed: () => ({ authorities: [this.authority(), ...authorities], serving }),
      Sign: () => ({ authorities, serving: this.sign(authorities[0]) }),
      Forget: () => ({ authorities: this.module.remaining(state, this.now), serving })
    }
    this.secret = { state: next[step](), version: read.version + 1 }
  }

  /** A replica reads the Secret, and serves its certificate. */
  readSecret(replica: number): void {
    const step = this.module.repair(this.secret.state, this.now)
    if (step !== undefined) this.write(step, { ...this.secret })
    this.serving[replica] = this.secret.state?.serving
  }

  /** The next request of a leader; several replicas may act as leader at once. */
  lead(replica: number): void {
    const leaders = this.leaders[replica] ?? {}
    if (leaders.configuration === undefined) return void (leaders.configuration = this.configuration)
    if (leaders.secret === undefined) return void (leaders.secret = { ...this.secret })
    const { configuration, secret } = leaders
    this.leaders[replica] = leaders.published === undefined ? {} : { published: leaders.published }
    const caBundle = (secret.state?.authorities ?? []).map(({ id }) => id)
    const isPublished = caBundle.join() === configuration.ids.join()
    const before = leaders.published?.caBundle === caBundle.join() ? leaders.published.since : this.now
    const own = this.leaders[replica] ?? {}
    if (isPublished && caBundle.length > 0) own.published = { caBundle: caBundle.join(), since: before }
    else delete own.published
    const step = this.module.next(secret.state, {
      now: this.now,
      names: this.names,
      publishedFor: own.published === undefined ? undefined : this.now - own.published.since
    })
    if (step === undefined) return
    if (step !== "Publish") return this.write(step, secret)
    if (configuration.version !== this.configuration.version) return
    this.stale.push({ ids: this.configuration.ids, until: this.now + this.module.settling / 2 })
    this.configuration = { ids: caBundle, version: configuration.version + 1 }
  }

  /** A process ends at any point, and restarts. */
  crash(replica: number): void {
    this.leaders[replica] = {}
    this.readSecret(replica)
  }

  pass(millis: number): void {
    this.now += millis
    this.stale = this.stale.filter(({ until }) => until > this.now)
  }

  check(): void {
    // Until the first authority has been published no certificate can be trusted.
    if (this.configuration.version === 0) return
    for (const [replica, serving] of this.serving.entries()) {
      if (serving === undefined) continue
      const views = [this.configuration.ids, ...this.stale.flatMap(({ ids }) => (ids.length === 0 ? [] : [ids]))]
      if (!views.every((ids) => ids.includes(serving.issuer))) this.wrong ??= `${replica} is not trusted`
      if (serving.notAfter <= this.now) this.wrong ??= `${replica} serves what has expired`
    }
    const { state } = this.secret
    if (state !== undefined && state.authorities.length > 3) this.wrong ??= "authorities pile up"
    if (state !== undefined && state.serving.notAfter > Math.max(...state.authorities.map((one) => one.notAfter))) {
      this.wrong ??= "a certificate outlives its authority"
    }
  }
}

type Operation =
  | { readonly _tag: "Read" | "Lead" | "Crash"; readonly replica: number }
  | { readonly _tag: "Pass"; readonly seconds: number }

const operation: Arbitrary.Arbitrary<Operation> = Arbitrary.map(
  Arbitrary.all({
    kind: int(0, 5),
    replica: int(0, replicas - 1),
    seconds: int(1, 40)
  }),
  ({ kind, replica, seconds }): Operation =>
    kind === 0 ? { _tag: "Pass", seconds } : { _tag: kind === 1 ? "Read" : kind === 2 ? "Crash" : "Lead", replica }
)

/** Operations in the minutes after some days, repeated; after each, one replica leads without faults. */
const sequences = Arbitrary.array(
  Arbitrary.all({
    days: int(12, 25),
    operations: Arbitrary.array(operation, { minLength: 0, maxLength: 30 }),
    leader: int(0, replicas - 1)
  }),
  { minLength: 14, maxLength: 40 }
)

const names = ["webhook.example.svc"]

const step = (model: Model, one: Operation): void => {
  if (one._tag === "Pass") model.pass(one.seconds * 1000)
  else if (one._tag === "Read") model.readSecret(one.replica)
  else if (one._tag === "Lead") model.lead(one.replica)
  else model.crash(one.replica)
  model.check()
}

/** Minutes without faults: one leader, and every replica reads the Secret at its interval. */
const settle = (model: Model, leader: number): void => {
  const all: ReadonlyArray<Operation> = [0, 1, 2].flatMap((): ReadonlyArray<Operation> => [
    { _tag: "Lead", replica: leader }
  ])
  for (let times = 0; times < 18; times++) {
    for (const one of all) step(model, one)
    for (let replica = 0; replica < replicas; replica++) step(model, { _tag: "Read", replica })
    step(model, { _tag: "Pass", seconds: 10 })
  }
}

const modelAfter = (sequence: Sequences): Model => {
  const model = new Model(Rotation, names)
  for (let replica = 0; replica < replicas; replica++) model.readSecret(replica)
  settle(model, 0)
  for (const { operations, days, leader } of sequence) {
    model.pass(days * day)
    for (const one of operations) step(model, one)
    settle(model, leader)
  }
  return model
}

type Sequences = typeof sequences extends Arbitrary.Arbitrary<infer A> ? A : never

describe("Rotation", () => {
  checkProperty(
    "a serving certificate is valid, and signed by an authority that every API server trusts",
    sequences,
    (sequence) => modelAfter(sequence).wrong === undefined
  )

  checkProperty("the first authority is created once, and the authorities are published", sequences, (sequence) => {
    const { configuration, secret, starts } = modelAfter(sequence)
    const ids = secret.state?.authorities.map(({ id }) => id) ?? []
    return starts === 1 && ids.length > 0 && ids.join() === configuration.ids.join()
  })

  checkProperty("over years authorities are replaced, and expired ones are removed", int(0, replicas - 1), (leader) => {
    const sequence = Array.from({ length: 50 }, () => ({ days: 20, operations: [], leader }))
    const { made, now, secret } = modelAfter(sequence)
    const authorities = secret.state?.authorities ?? []
    return made >= 4 && authorities.slice(1).every((one) => one.notAfter + Rotation.skew + 20 * day > now)
  })

  checkProperty("a certificate does not outlive the authority that has signed it", int(-100, 500), (days) => {
    const issuer = { id: "a", notBefore: 0, notAfter: 400 * day }
    const { notAfter, notBefore } = Rotation.validity(days * day, Rotation.lifetimes.serving, issuer)
    return notAfter <= issuer.notAfter && notBefore < days * day
  })

  checkProperty("a change of the server name requires a new certificate", oneOf("a.svc", "b.svc"), (name) => {
    const now = 10 * day
    const [authority] = [{ id: "a", ...Rotation.validity(now, Rotation.lifetimes.authority) }]
    const serving = { issuer: "a", names: ["a.svc"], ...Rotation.validity(now, Rotation.lifetimes.serving, authority) }
    const step = Rotation.next(
      { authorities: [authority], serving },
      { now, names: [name], publishedFor: Rotation.settling }
    )
    return step === (name === "a.svc" ? undefined : "Sign")
  })
})
