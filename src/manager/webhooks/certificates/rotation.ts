/**
 * When certificates that the manager makes itself are renewed, and in which order: each replica's certificate must at every moment be signed
 * by an authority that has been published to the API server. So a new authority is published before it signs, and an old one stays published
 * until it has expired, when nothing that it signed can be valid any more. One step at a time, each a write that another replica's write
 * makes void: a process that ends between two steps leaves a state from which any replica can continue. Pure; what a step does is `CertificateManager.ts`.
 */

/** Milliseconds of the wall clock, as in the certificates. */
interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

export interface Authority extends Validity {
  /** Its unique id. */
  readonly id: string
}

export interface Serving extends Validity {
  /** The authority that has signed it. It never outlives it. */
  readonly issuer: string
  /** The hosts it is for. */
  readonly names: ReadonlyArray<string>
}

/** What all replicas share. */
export interface State {
  /** Newest first. Of the first one the key is kept, so that nothing new is signed by any other. */
  readonly authorities: readonly [Authority, ...ReadonlyArray<Authority>]
  /** What every replica serves with, as soon as it has seen it. */
  readonly serving: Serving
}

export type Step =
  /** A new authority, alone, and a certificate that it has signed: whatever there was is of no use any more. */
  | "Start"
  /** A new authority before the others. It signs nothing yet. */
  | "Succeed"
  /** A new certificate, signed by the newest authority. */
  | "Sign"
  /** The authorities that have expired are left out. */
  | "Forget"
  /** The configurations get all authorities that there are. */
  | "Publish"

const minute = 60_000
const day = 24 * 60 * minute

/** How long certificates are valid, in milliseconds. */
export const lifetimes = { authority: 365 * day, serving: 90 * day }

/** Of its lifetime, after which either is renewed: a third is left for whatever is out of order. */
export const renewAfter = 2 / 3

/** So long configurations must have had a new authority, that every API server has seen it, in milliseconds. */
export const settling = minute

/** By how much clocks may differ, in milliseconds: so much earlier certificates become valid, and so much later they are given up. */
export const skew = 60 * minute

/** What any replica does, leader or not, because without it nothing works and nothing can become worse. */
export const repair = (state: State | undefined, now: number): "Start" | "Sign" | undefined => {
  if (state === undefined || hasExpired(state.authorities[0], now)) return "Start"
  return hasExpired(state.serving, now) ? "Sign" : undefined
}

/** What the leader knows beside the state. */
export interface Sight {
  readonly now: number
  /** The hosts that a certificate has to be for. */
  readonly names: ReadonlyArray<string>
  /** For so long all configurations have been seen to have exactly the authorities of the state; undefined when one has not. */
  readonly publishedFor: number | undefined
}

/** The next step of the leader; undefined when there is nothing to do. */
export const next = (state: State | undefined, { names, now, publishedFor }: Sight): Step | undefined => {
  const first = repair(state, now)
  if (first !== undefined || state === undefined) return first
  const [newest, ...older] = state.authorities
  if (older.some((one) => isOver(one, now))) return "Forget"
  const isSucceeding = state.serving.issuer !== newest.id
  if (!isSucceeding && isDue(newest, now)) return "Succeed"
  // Whether it can be published or not: who trusts the authority already trusts this one too.
  const isOutdated = isDue(state.serving, now) || !names.every((name) => state.serving.names.includes(name))
  if (!isSucceeding && isOutdated) return "Sign"
  if (publishedFor === undefined) return "Publish"
  return isSucceeding && publishedFor >= settling ? "Sign" : undefined
}

/** The authorities that have not expired; the newest in any case. */
export const remaining = ({ authorities: [newest, ...older] }: State, now: number): State["authorities"] => [
  newest,
  ...older.filter((one) => !isOver(one, now))
]

/** For so long a certificate is valid that is made now. Nothing outlives the authority that has signed it. */
export const validity = (now: number, lifetime: number, issuer?: Authority): Validity => ({
  notBefore: seconds(now - skew),
  notAfter: Math.min(seconds(now + lifetime), issuer?.notAfter ?? Infinity)
})

/** Certificates know no fractions of a second. */
const seconds = (millis: number): number => Math.floor(millis / 1000) * 1000

const isDue = ({ notAfter, notBefore }: Validity, now: number): boolean =>
  now >= notBefore + (notAfter - notBefore) * renewAfter

/** Whether every certificate that it has signed has expired, with any allowed clock skew. */
const isOver = ({ notAfter }: Validity, now: number): boolean => now > notAfter + skew

const hasExpired = ({ notAfter }: Validity, now: number): boolean => now >= notAfter
