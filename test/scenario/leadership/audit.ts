/**
 * What a server's audit log says about who led, pure: the writes that were accepted, the terms of leadership among them, and what was
 * accepted from a replica whose term was over. A term begins with the write that takes the Lease: that is the first write of the
 * new leader. Events are left out of it: they tell what was done, and by design leave after the lease was given back.
 */

/** A write that was accepted. */
export interface Write {
  readonly user: string
  readonly verb: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
  /** Of the store after it; undefined where the log does not say, as for what a real server deletes. */
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
  /** The last write by which the holder before kept the lease, or gave it back. */
  readonly before: Write | undefined
}

const isLease = ({ name, namespace, resource }: Write, lease: Target): boolean =>
  resource === "leases" && name === lease.name && namespace === lease.namespace

/** Who led, one entry a term, in order. */
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

/** Under the lease: whatever is neither the lease itself nor an event. */
const isWork = (write: Write, lease: Target): boolean => write.resource !== "events" && !isLease(write, lease)

/** What was accepted from those who did not lead then, and changed something. */
export const late = (writes: ReadonlyArray<Write>, lease: Target): ReadonlyArray<Write> => {
  const began = terms(writes, lease)
  return changing(writes).filter((write) => isWork(write, lease) && holderAt(began, write) !== write.user)
}

/**
 * A write that changes nothing is answered with the revision that the object had: one that the store had reached before the write came
 * in, as a later revision shows that was answered before.
 */
const changing = (writes: ReadonlyArray<Write>): ReadonlyArray<Write> => {
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

/** By revision where the write has one; otherwise by time: then what came in before a takeover was done was not late. */
const holderAt = (began: ReadonlyArray<Term>, { received, revision }: Write): string | undefined =>
  began.findLast(({ takeover }) =>
    revision === undefined ? takeover.completed < received : (takeover.revision ?? 0) < revision
  )?.user

/** The writes that were accepted from a user after a moment. */
export const workOf = (
  writes: ReadonlyArray<Write>,
  lease: Target,
  { moment, user }: { readonly user: string; readonly moment: number }
): ReadonlyArray<Write> =>
  writes.filter((write) => write.user === user && write.received > moment && isWork(write, lease))
