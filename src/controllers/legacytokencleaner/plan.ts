/**
 * Decides which tokens have been unused for so long that they are marked or deleted. Pure and total. Dates are whole days in UTC, in the server's
 * format, and compared as text. Source: pkg/controller/serviceaccount: LegacySATokenCleaner.
 */
import * as Key from "../../kube/Key.ts"
import type { Pod, Secret, ServiceAccount } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Secrets from "../shared/tokens/secrets.ts"
import * as PodSecrets from "./podSecrets.ts"

/** The label by which the server knows a token as invalid: the day on which it became so. */
export const invalidSince = "kubernetes.io/legacy-token-invalid-since"

/** The label that the API server sets: the last day on which the token was used. */
const lastUsed = "kubernetes.io/legacy-token-last-used"

const dayMillis = 86_400_000

export interface Look {
  /** Milliseconds since 1970. */
  readonly now: number
  /** How long a token has to be unused. */
  readonly periodMillis: number
  /** The day since which the API server tracks the use of tokens; undefined if unknown. */
  readonly since: string | undefined
  readonly secrets: ReadonlyArray<Secret>
  readonly accounts: ReadonlyArray<ServiceAccount>
  readonly pods: ReadonlyArray<Pod>
}

export type Deed =
  /** It is invalid from today on. */
  | { readonly _tag: "Mark"; readonly secret: Secret; readonly since: string }
  | { readonly _tag: "Delete"; readonly secret: Secret }

export type Plan =
  | { readonly _tag: "Clean"; readonly deeds: ReadonlyArray<Deed> }
  /** The tracking period is too short to decide. */
  | { readonly _tag: "Untracked"; readonly why: string }

export const plan = (look: Look): Plan => {
  const { now, periodMillis, since } = look
  const from = dayOf(since)
  if (from === undefined) {
    return { _tag: "Untracked", why: "The server does not tell since when it has noted the use of tokens" }
  }
  // On the first day it may have begun late.
  if (now < from + dayMillis + periodMillis) {
    return { _tag: "Untracked", why: `The server has noted the use of tokens since ${since}, which is not long enough` }
  }
  const old = look.secrets.filter((secret) => isUnused(secret, now - periodMillis))
  if (old.length === 0) return { _tag: "Clean", deeds: [] }
  const accounts = new Map(look.accounts.map((account) => [Key.of(account), account]))
  const listed = old.filter((secret) => isListed(secret, accounts))
  const mounted = listed.length === 0 ? new Set<Key.Key>() : mountedBy(look.pods)
  return {
    _tag: "Clean",
    deeds: listed.filter((secret) => !mounted.has(Key.of(secret))).flatMap((secret) => deedFor(secret, look))
  }
}

/** The beginning of a day; undefined for what is none. */
const dayOf = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const millis = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(millis) || formatDay(millis) !== text ? undefined : millis
}

const formatDay = (millis: number): string => Time.format(millis).slice(0, 10)

/** Made and last used before then. A day of use that cannot be read may be any. */
const isUnused = ({ metadata }: Secret, limit: number): boolean => {
  const created = Time.parse(metadata.creationTimestamp)
  if (created === undefined || created >= limit || metadata.deletionTimestamp !== undefined) return false
  const used = metadata.labels?.[lastUsed]
  return used === undefined || (dayOf(used) !== undefined && used < formatDay(limit))
}

/** Only those that a cluster once made by itself are in the list of their account. */
const isListed = (secret: Secret, accounts: ReadonlyMap<Key.Key, ServiceAccount>): boolean => {
  const wanted = Secrets.accountOf(secret)
  const account = wanted === undefined ? undefined : accounts.get(Key.make(wanted.namespace, wanted.name))
  if (wanted === undefined || account === undefined || !Secrets.isMeant(wanted, account)) return false
  return account.secrets?.some(({ name }) => name === secret.metadata.name) ?? false
}

const mountedBy = (pods: ReadonlyArray<Pod>): ReadonlySet<Key.Key> =>
  new Set(pods.flatMap((pod) => PodSecrets.of(pod).map((name) => Key.make(pod.metadata.namespace, name))))

const deedFor = (secret: Secret, { now, periodMillis }: Look): ReadonlyArray<Deed> => {
  const marked = secret.metadata.labels?.[invalidSince]
  if (marked === undefined || dayOf(marked) === undefined) return [{ _tag: "Mark", secret, since: formatDay(now) }]
  return marked < formatDay(now - periodMillis) ? [{ _tag: "Delete", secret }] : []
}
