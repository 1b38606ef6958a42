/**
 * The namespaces that a cache is about, where it is not about all of them, and which of them its informers show. The promise: a
 * namespace comes in at all informers in one turn, when each of them has read it, and goes out at all of them in one turn. So
 * whoever works on an object of one kind finds those of the others too, and never takes a namespace of which only a part has
 * arrived for one in which the rest does not exist. It starts no watch and reads no object; it says when.
 *
 * A namespace is pending, then open. An informer that has not synced yet is not waited for, because no controller uses it yet; it syncs, and
 * shows them, when it has read all that are open.
 */

/** An informer of namespaced objects. All of it is synchronous. */
export interface Member {
  readonly isSynced: () => boolean
  /** Whether it has read the whole namespace once. */
  readonly isComplete: (namespace: string) => boolean
  /** Begins to read, and shows nothing. */
  readonly add: (namespace: string) => void
  /** Stops its watch and removes its objects; listeners are called by `deliver`. */
  readonly remove: (namespace: string) => void
  /** Adds its objects to the store; listeners are called by `deliver`. */
  readonly show: (namespace: string) => void
  /** Marks the store as synced; listeners are called by `deliver`. */
  readonly settle: () => void
  /** Distributes the deltas since the last call. */
  readonly deliver: () => void
}

/** A namespace that is meant from now on, or no longer. */
export interface NamespaceChange {
  readonly namespace: string
  readonly isMeant: boolean
}

export interface Namespaces {
  /** Adds an informer; the answer takes it away. */
  readonly join: (member: Member) => () => void
  /** The member has now read one more namespace. */
  readonly arrived: (member: Member, namespace: string) => void
  readonly change: (steps: ReadonlyArray<NamespaceChange>) => void
  /** Until it is known which namespaces are meant, no informer has synced. */
  readonly know: () => void
}

export const make = (): Namespaces => {
  const members = new Set<Member>()
  /** Shown by every member that has synced. */
  const open = new Set<string>()
  /** Shown by none; some member that has synced has not read it. No namespace is in both sets. */
  const pending = new Set<string>()
  let known = false

  const synced = (): ReadonlyArray<Member> => [...members].filter((member) => member.isSynced())

  const enter = (namespace: string): void => {
    if (open.has(namespace) || pending.has(namespace)) return
    pending.add(namespace)
    for (const member of members) member.add(namespace)
  }

  const leave = (namespace: string): void => {
    if (!open.delete(namespace) && !pending.delete(namespace)) return
    for (const member of members) member.remove(namespace)
  }

  /** Opens those of the namespaces that every member has read: in all stores first, then the deltas are distributed. */
  const unlock = (namespaces: ReadonlyArray<string>): void => {
    const readers = synced()
    for (const namespace of namespaces) {
      if (!pending.has(namespace) || !readers.every((member) => member.isComplete(namespace))) continue
      pending.delete(namespace)
      open.add(namespace)
      for (const member of readers) member.show(namespace)
    }
    for (const member of readers) member.deliver()
  }

  const trySettle = (member: Member): void => {
    if (!known || member.isSynced()) return
    for (const namespace of open) if (!member.isComplete(namespace)) return
    for (const namespace of open) member.show(namespace)
    member.settle()
    member.deliver()
  }

  return {
    join: (member) => {
      members.add(member)
      for (const namespace of [...open, ...pending]) member.add(namespace)
      trySettle(member)
      return () => {
        members.delete(member)
        unlock([...pending])
      }
    },
    arrived: (member, namespace) => {
      if (member.isSynced()) unlock([namespace])
      else trySettle(member)
    },
    change: (steps) => {
      for (const { isMeant, namespace } of steps) {
        if (isMeant) enter(namespace)
        else leave(namespace)
      }
      unlock([...pending])
      for (const member of members) trySettle(member)
    },
    know: () => {
      known = true
      for (const member of members) trySettle(member)
    }
  }
}

/** A list that stays as it is. */
export const fixed = (names: ReadonlyArray<string>): Namespaces => {
  const namespaces = make()
  namespaces.change(names.map((namespace) => ({ namespace, isMeant: true })))
  namespaces.know()
  return namespaces
}
