/**
 * The namespaces of a cache that does not cache all of them, and which of them its informers show. A namespace becomes visible in all
 * informers in one synchronous section, when each of them has read it, and is removed from all of them in one synchronous section. So a
 * reconcile of an object of one kind also finds the related objects of the other kinds. This file starts no watch and reads no object;
 * it decides when informers do so.
 *
 * A namespace is pending, then open. It does not wait for informers that have not synced, because no controller uses them yet; such an
 * informer syncs, and shows all open namespaces, when it has read them.
 */

/** An informer of namespaced objects. All methods are synchronous. */
export interface Member {
  readonly isSynced: () => boolean
  /** Whether it has read the whole namespace once. */
  readonly isComplete: (namespace: string) => boolean
  /** Begins to read the namespace, and does not show it yet. */
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

/** A namespace that is selected from now on, or no longer. */
export interface NamespaceChange {
  readonly namespace: string
  readonly isSelected: boolean
}

export interface Namespaces {
  /** Adds an informer; the returned function removes it. */
  readonly join: (member: Member) => () => void
  /** The member has now read one more namespace. */
  readonly arrived: (member: Member, namespace: string) => void
  readonly change: (changes: ReadonlyArray<NamespaceChange>) => void
  /** Whether the namespace is selected, and not visible yet. */
  readonly isPending: (namespace: string) => boolean
  /** Call it when the selected namespaces are known. No informer syncs before. */
  readonly setKnown: () => void
}

export const make = (): Namespaces => {
  const members = new Set<Member>()
  /** Namespaces that every synced member shows. */
  const open = new Set<string>()
  /** Namespaces that no member shows, because a synced member has not read them. No namespace is in both sets. */
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

  /** Opens the namespaces that every synced member has read: first in all stores, then it distributes the deltas. */
  const openRead = (namespaces: ReadonlyArray<string>): void => {
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
        openRead([...pending])
      }
    },
    arrived: (member, namespace) => {
      if (member.isSynced()) openRead([namespace])
      else trySettle(member)
    },
    change: (changes) => {
      for (const { isSelected, namespace } of changes) {
        if (isSelected) enter(namespace)
        else leave(namespace)
      }
      openRead([...pending])
      for (const member of members) trySettle(member)
    },
    isPending: (namespace) => pending.has(namespace),
    setKnown: () => {
      known = true
      for (const member of members) trySettle(member)
    }
  }
}
