/**
 * Decides which tokens have been unused for so long that they are marked as invalid or deleted. Pure. Dates are days in UTC, in the API server's
 * format, and are compared as text. Source: pkg/controller/serviceaccount: LegacySATokenCleaner.
 */
import * as Key from "../../kube/Key.ts"
import type { Pod, Secret, ServiceAccount } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import * as Secrets from "../shared/tokens/secrets.ts"
import * as PodSecrets from "./podSecrets.ts"

/** The label that makes a token invalid for the API server; its value is the day on which this controller set it. */
export const invalidSince = "kubernetes.io/legacy-token-invalid-since"

/** The label that the API server sets to the last day on which the token was used. */
const lastUsed = "kubernetes.io/legacy-token-last-used"

const dayMillis = 86_400_000

export interface Snapshot {
  /** Milliseconds since 1970. */
  readonly now: number
  /** How long a token must be unused before it is marked, and marked before it is deleted. */
  readonly periodMillis: number
  /** The day since which the API server tracks the use of tokens; undefined if unknown. */
  readonly since: string | undefined
  readonly secrets: ReadonlyArray<Secret>
  readonly accounts: ReadonlyArray<ServiceAccount>
  readonly pods: ReadonlyArray<Pod>
}

export type Action =
  /** Marks the token as invalid since today. */
  | { readonly _tag: "Mark"; readonly secret: Secret; readonly since: string }
  | { readonly _tag: "Delete"; readonly secret: Secret }

export type Plan =
  | { readonly _tag: "Clean"; readonly actions: ReadonlyArray<Action> }
  /** The tracking period is too short to decide. */
  | { readonly _tag: "Untracked"; readonly why: string }

export const plan = (snapshot: Snapshot): Plan => {
  const { now, periodMillis, since } = snapshot
  const from = dayOf(since)
  if (from === undefined) {
    return { _tag: "Untracked", why: "The API server has not published since when it tracks the use of tokens" }
  }
  // Tracking may have started at any time of its first day, so that day does not count.
  if (now < from + dayMillis + periodMillis) {
    return {
      _tag: "Untracked",
      why: `The API server has tracked the use of tokens since ${since}, which is not long enough`
    }
  }
  const old = snapshot.secrets.filter((secret) => isUnused(secret, now - periodMillis))
  if (old.length === 0) return { _tag: "Clean", actions: [] }
  const accounts = new Map(snapshot.accounts.map((account) => [Key.of(account), account]))
  const listed = old.filter((secret) => isListed(secret, accounts))
  const mounted = listed.length === 0 ? new Set<Key.Key>() : mountedBy(snapshot.pods)
  return {
    _tag: "Clean",
    actions: listed.filter((secret) => !mounted.has(Key.of(secret))).flatMap((secret) => actionsFor(secret, snapshot))
  }
}

/** The start of a day in milliseconds since 1970; undefined if the text is not a date. */
const dayOf = (text: string | undefined): number | undefined => {
  if (text === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const millis = Date.parse(`${text}T00:00:00Z`)
  return Number.isNaN(millis) || formatDay(millis) !== text ? undefined : millis
}

const formatDay = (millis: number): string => Time.format(millis).slice(0, 10)

/** Whether the token was created and last used before `limit`. A token whose last-used label is invalid counts as used. */
const isUnused = ({ metadata }: Secret, limit: number): boolean => {
  const created = Time.parse(metadata.creationTimestamp)
  if (created === undefined || created >= limit || metadata.deletionTimestamp !== undefined) return false
  const used = metadata.labels?.[lastUsed]
  return used === undefined || (dayOf(used) !== undefined && used < formatDay(limit))
}

/** Whether the account lists the Secret, which is so only for tokens that Kubernetes before 1.24 generated. */
const isListed = (secret: Secret, accounts: ReadonlyMap<Key.Key, ServiceAccount>): boolean => {
  const wanted = Secrets.accountOf(secret)
  const account = wanted === undefined ? undefined : accounts.get(Key.make(wanted.namespace, wanted.name))
  if (wanted === undefined || account === undefined || !Secrets.isMeant(wanted, account)) return false
  return account.secrets?.some(({ name }) => name === secret.metadata.name) ?? false
}

const mountedBy = (pods: ReadonlyArray<Pod>): ReadonlySet<Key.Key> =>
  new Set(pods.flatMap((pod) => PodSecrets.of(pod).map((name) => Key.make(pod.metadata.namespace, name))))

const actionsFor = (secret: Secret, { now, periodMillis }: Snapshot): ReadonlyArray<Action> => {
  const marked = secret.metadata.labels?.[invalidSince]
  if (marked === undefined || dayOf(marked) === undefined) return [{ _tag: "Mark", secret, since: formatDay(now) }]
  return marked < formatDay(now - periodMillis) ? [{ _tag: "Delete", secret }] : []
}
