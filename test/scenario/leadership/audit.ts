/**
 * What a server's audit log says about leadership, pure: the accepted writes, the terms of leadership, and writes that were accepted from a replica
 * after its term. A term begins with the write that takes the Lease, which is the first write of the new leader. Events do not count:
 * they describe what was done, and are sent by design after the lease was released.
 */

/** A write that was accepted. */
export interface Write {
  readonly user: string
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  /** The revision of the store after it; undefined where the log does not have it, as for deletions on a real server. */
  readonly revision: number | undefined
  /** Milliseconds since the epoch, by the server's clock. */
  readonly received: number
  readonly completed: number
}

export interface Target {
  readonly namespace: string
  readonly name: string
}

export interface Term {
  readonly user: string
  readonly takeover: Write
  /** The last write by which the previous holder renewed the lease, or released it. */
  readonly before: Write | undefined
}

const isLease = ({ name, namespace, resource }: Write, lease: Target): boolean =>
  resource === "leases" && name === lease.name && namespace === lease.namespace

/** The holders, one entry for each term, in order. */
export const terms = (writes: ReadonlyArray<Write>, lease: Target): ReadonlyArray<Term> => {
  const found: Array<Term> = []
  let before: Write | undefined
  for (const write of writes.filter((one) => isLease(one, lease)).toSorted(byRevision)) {
    if (write.user !== before?.user) found.push({ user: write.user, takeover: write, before })
    before = write
  }
  return found
}

const byRevision = (a: Write, b: Write): number => (a.revision ?? 0) - (b.revision ?? 0)

/** A write under the lease: neither the lease itself nor an event. */
const isWork = (write: Write, lease: Target): boolean => write.resource !== "events" && !isLease(write, lease)

/** The accepted writes that changed something, of replicas that did not lead at that time. */
export const late = (writes: ReadonlyArray<Write>, lease: Target): ReadonlyArray<Write> => {
  const began = terms(writes, lease)
  return changing(writes).filter((write) => isWork(write, lease) && holderAt(began, write) !== write.user)
}

/**
 * A write that changes nothing gets a response with the existing revision of the object: the store had reached that revision before the write
 * came in, which a later revision in an earlier response shows.
 */
export const changing = (writes: ReadonlyArray<Write>): ReadonlyArray<Write> => {
  const answered = writes.toSorted((a, b) => a.completed - b.completed)
  let reached = 0
  let next = 0
  return writes
    .toSorted((a, b) => a.received - b.received)
    .filter(({ received, revision }) => {
      for (let one = answered[next]; one !== undefined && one.completed < received; one = answered[++next]) {
        reached = Math.max(reached, one.revision ?? 0)
      }
      return revision === undefined || revision >= reached
    })
}

/** Compared by revision where the write has one, otherwise by time: a write that came in before the takeover was done was not late. */
const holderAt = (began: ReadonlyArray<Term>, { received, revision }: Write): string | undefined =>
  began.findLast(({ takeover }) =>
    revision === undefined ? takeover.completed < received : (takeover.revision ?? 0) < revision
  )?.user

/** The writes that were accepted from a user after a time. */
export const workOf = (
  writes: ReadonlyArray<Write>,
  lease: Target,
  { moment, user }: { readonly user: string; readonly moment: number }
): ReadonlyArray<Write> =>
  writes.filter((write) => write.user === user && write.received > moment && isWork(write, lease))
