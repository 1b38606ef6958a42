/** What Services say of where their traffic should go, and how many say it. Plain synchronous state, for one term of leadership. */
import type { Key } from "../../kube/Key.ts"

export interface Preferences {
  /** Answers with how many Services say each of the things that were ever said. */
  readonly note: (service: Key, preference: string | undefined) => ReadonlyMap<string, number>
}

export const make = (): Preferences => {
  const known = new Map<Key, string>()
  const services = new Map<string, number>()
  const add = (preference: string | undefined, count: number): void => {
    if (preference !== undefined) services.set(preference, (services.get(preference) ?? 0) + count)
  }
  return {
    note: (service, preference) => {
      add(known.get(service), -1)
      add(preference, 1)
      if (preference === undefined) known.delete(service)
      else known.set(service, preference)
      return services
    }
  }
}
