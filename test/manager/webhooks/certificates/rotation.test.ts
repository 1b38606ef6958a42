import { describe } from "@effect/vitest"
/**
 * The order in which certificates are renewed, with replicas and leaders that read and write in any interleaving, stop in the middle of
 * anything and go on with what they had read long ago: the API server trusts the serving certificate by the authorities that were published last, or a while before.
 */
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

/** What a leader has in its hands between two of its requests. */
interface Hands {
  configuration?: Bundle
  secret?: { readonly state: Rotation.State | undefined; readonly version: number }
  sight?: { readonly caBundle: string; readonly since: number }
}

/** A cluster of one Secret, one configuration, and replicas that serve what they have seen last. */
class World {
  now = 1_700_000_000_000
  secret: { state: Rotation.State | undefined; version: number } = { state: undefined, version: 0 }
  configuration: Bundle = { ids: [], version: 0 }
  /** What API servers that are behind still believe, with the time until which they may. */
  believed: Array<{ readonly ids: ReadonlyArray<string>; readonly until: number }> = []
  readonly serving: Array<Rotation.Serving | undefined> = Array.from({ length: replicas }, () => undefined)
  readonly hands: Array<Hands> = Array.from({ length: replicas }, () => ({}))
  made = 0
  /** How often there was nothing to go on from. */
  starts = 0
  /** What was wrong first. */
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
  write(step: Exclude<Rotation.Step, "Publish">, read: NonNullable<Hands["secret"]>): void {
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

  /** A replica looks at the Secret, and serves what it finds. */
  look(replica: number): void {
    const step = this.module.repair(this.secret.state, this.now)
    if (step !== undefined) this.write(step, { ...this.secret })
    this.serving[replica] = this.secret.state?.serving
  }

  /** The next request of a leader; there may be several who take themselves for it. */
  lead(replica: number): void {
    const hands = this.hands[replica] ?? {}
    if (hands.configuration === undefined) return void (hands.configuration = this.configuration)
    if (hands.secret === undefined) return void (hands.secret = { ...this.secret })
    const { configuration, secret } = hands
    this.hands[replica] = hands.sight === undefined ? {} : { sight: hands.sight }
    const caBundle = (secret.state?.authorities ?? []).map(({ id }) => id)
    const isPublished = caBundle.join() === configuration.ids.join()
    const before = hands.sight?.caBundle === caBundle.join() ? hands.sight.since : this.now
    const own = this.hands[replica] ?? {}
    if (isPublished && caBundle.length > 0) own.sight = { caBundle: caBundle.join(), since: before }
    else delete own.sight
    const step = this.module.next(secret.state, {
      now: this.now,
      names: this.names,
      publishedFor: own.sight === undefined ? undefined : this.now - own.sight.since
    })
    if (step === undefined) return
    if (step !== "Publish") return this.write(step, secret)
    if (configuration.version !== this.configuration.version) return
    this.believed.push({ ids: this.configuration.ids, until: this.now + this.module.settling / 2 })
    this.configuration = { ids: caBundle, version: configuration.version + 1 }
  }

  /** A process ends, whatever it was doing, and is started anew. */
  crash(replica: number): void {
    this.hands[replica] = {}
    this.look(replica)
  }

  pass(millis: number): void {
    this.now += millis
    this.believed = this.believed.filter(({ until }) => until > this.now)
  }

  check(): void {
    // Until the first authority has been published no certificate can be trusted.
    if (this.configuration.version === 0) return
    for (const [replica, serving] of this.serving.entries()) {
      if (serving === undefined) continue
      const views = [this.configuration.ids, ...this.believed.flatMap(({ ids }) => (ids.length === 0 ? [] : [ids]))]
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

type Act =
  | { readonly _tag: "Look" | "Lead" | "Crash"; readonly replica: number }
  | { readonly _tag: "Pass"; readonly seconds: number }

const act: Arbitrary.Arbitrary<Act> = Arbitrary.map(
  Arbitrary.all({
    kind: int(0, 5),
    replica: int(0, replicas - 1),
    seconds: int(1, 40)
  }),
  ({ kind, replica, seconds }): Act =>
    kind === 0 ? { _tag: "Pass", seconds } : { _tag: kind === 1 ? "Look" : kind === 2 ? "Crash" : "Lead", replica }
)

/** What happens in the minutes after some days, again and again; then one leads while nothing happens. */
const story = Arbitrary.array(
  Arbitrary.all({
    days: int(12, 25),
    acts: Arbitrary.array(act, { minLength: 0, maxLength: 30 }),
    leader: int(0, replicas - 1)
  }),
  { minLength: 14, maxLength: 40 }
)

const names = ["webhook.example.svc"]

const perform = (world: World, one: Act): void => {
  if (one._tag === "Pass") world.pass(one.seconds * 1000)
  else if (one._tag === "Look") world.look(one.replica)
  else if (one._tag === "Lead") world.lead(one.replica)
  else world.crash(one.replica)
  world.check()
}

/** Minutes without accidents: whoever leads leads, and everybody looks as often as they do. */
const calm = (world: World, leader: number): void => {
  const all: ReadonlyArray<Act> = [0, 1, 2].flatMap((): ReadonlyArray<Act> => [{ _tag: "Lead", replica: leader }])
  for (let times = 0; times < 18; times++) {
    for (const one of all) perform(world, one)
    for (let replica = 0; replica < replicas; replica++) perform(world, { _tag: "Look", replica })
    perform(world, { _tag: "Pass", seconds: 10 })
  }
}

const lived = (chapters: Story): World => {
  const world = new World(Rotation, names)
  for (let replica = 0; replica < replicas; replica++) world.look(replica)
  calm(world, 0)
  for (const { acts, days, leader } of chapters) {
    world.pass(days * day)
    for (const one of acts) perform(world, one)
    calm(world, leader)
  }
  return world
}

type Story = typeof story extends Arbitrary.Arbitrary<infer A> ? A : never

describe("Rotation", () => {
  checkProperty(
    "whoever serves has what is valid, and by an authority that every API server knows",
    story,
    (chapters) => lived(chapters).wrong === undefined
  )

  checkProperty("nobody has to begin anew, and authorities are published", story, (chapters) => {
    const { configuration, secret, starts } = lived(chapters)
    const ids = secret.state?.authorities.map(({ id }) => id) ?? []
    return starts === 1 && ids.length > 0 && ids.join() === configuration.ids.join()
  })

  checkProperty("in years authorities come and go", int(0, replicas - 1), (leader) => {
    const chapters = Array.from({ length: 50 }, () => ({ days: 20, acts: [], leader }))
    const { made, now, secret } = lived(chapters)
    const authorities = secret.state?.authorities ?? []
    return made >= 4 && authorities.slice(1).every((one) => one.notAfter + Rotation.skew + 20 * day > now)
  })

  checkProperty("nothing outlives the authority that has signed it", int(-100, 500), (days) => {
    const issuer = { id: "a", notBefore: 0, notAfter: 400 * day }
    const { notAfter, notBefore } = Rotation.validity(days * day, Rotation.lifetimes.serving, issuer)
    return notAfter <= issuer.notAfter && notBefore < days * day
  })

  checkProperty("whoever is called otherwise gets a certificate for it", oneOf("a.svc", "b.svc"), (name) => {
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
