/**
 * When and in which order the manager renews its own certificates. At any time each replica's certificate must be signed by an authority that has
 * been published to the API server. So a new authority is published before it signs, and an old one stays published until it expires, when
 * everything that it signed has expired too. Each step is one write with a resource version, which fails if another replica has written. A process
 * that ends between two steps leaves a state from which any replica can continue. Pure; `CertificateManager.ts` executes the steps.
 */

/** Milliseconds of the wall clock, as in the certificates. */
interface Validity {
  readonly notBefore: number
  readonly notAfter: number
}

export interface Authority extends Validity {
  /** The fingerprint. */
  readonly id: string
}

export interface Serving extends Validity {
  /** The authority that has signed it. The certificate never outlives it. */
  readonly issuer: string
  /** The hosts of the certificate. */
  readonly names: ReadonlyArray<string>
}

/** What all replicas share. */
export interface State {
  /** Newest first. Only the key of the first one is stored, so that only it can sign. */
  readonly authorities: readonly [Authority, ...ReadonlyArray<Authority>]
  /** The certificate that every replica serves with. */
  readonly serving: Serving
}

export type Step =
  /** Creates a new authority and a certificate signed by it, and discards the old ones, which cannot be used any more. */
  | "Start"
  /** Adds a new authority, which signs nothing yet. */
  | "Succeed"
  /** Creates a new certificate, signed by the newest authority. */
  | "Sign"
  /** Removes the expired authorities. */
  | "Forget"
  /** Writes all authorities to the configurations. */
  | "Publish"

const minute = 60_000
const day = 24 * 60 * minute

/** How long certificates are valid, in milliseconds. */
export const lifetimes = { authority: 365 * day, serving: 90 * day }

/** The part of the lifetime after which a certificate is renewed; the last third leaves time for repairs. */
export const renewAfter = 2 / 3

/** Milliseconds for which the configurations must have had a new authority before it signs, so that every API server has read it. */
export const settling = minute

/** The tolerated clock skew in milliseconds: certificates become valid so much earlier, and expired authorities are removed so much later. */
export const skew = 60 * minute

/** The step that any replica may make, leader or not: without it the webhooks cannot be served at all. */
export const repair = (state: State | undefined, now: number): "Start" | "Sign" | undefined => {
  if (state === undefined || hasExpired(state.authorities[0], now)) return "Start"
  return hasExpired(state.serving, now) ? "Sign" : undefined
}

/** What the leader knows besides the state. */
export interface Sight {
  readonly now: number
  /** The hosts that the certificate must have. */
  readonly names: ReadonlyArray<string>
  /** Milliseconds for which all configurations have had exactly the authorities of the state; undefined if one has not. */
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
  // Needs no publication: clients that trust the authority trust the new certificate.
  const isOutdated = isDue(state.serving, now) || !names.every((name) => state.serving.names.includes(name))
  if (!isSucceeding && isOutdated) return "Sign"
  if (publishedFor === undefined) return "Publish"
  return isSucceeding && publishedFor >= settling ? "Sign" : undefined
}

/** The authorities that have not expired; always includes the newest. */
export const remaining = ({ authorities: [newest, ...older] }: State, now: number): State["authorities"] => [
  newest,
  ...older.filter((one) => !isOver(one, now))
]

/** The validity of a certificate that is created now. It never outlives its authority. */
export const validity = (now: number, lifetime: number, issuer?: Authority): Validity => ({
  notBefore: seconds(now - skew),
  notAfter: Math.min(seconds(now + lifetime), issuer?.notAfter ?? Infinity)
})

/** Certificates have a resolution of seconds. */
const seconds = (millis: number): number => Math.floor(millis / 1000) * 1000

const isDue = ({ notAfter, notBefore }: Validity, now: number): boolean =>
  now >= notBefore + (notAfter - notBefore) * renewAfter

/** Whether every certificate that the authority has signed has expired, allowing for clock skew. */
const isOver = ({ notAfter }: Validity, now: number): boolean => now > notAfter + skew

const hasExpired = ({ notAfter }: Validity, now: number): boolean => now >= notAfter
