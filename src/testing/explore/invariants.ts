/** What must hold in a cluster at any time. An invariant is checked after every write, whoever made it. */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Resource from "../../kube/Resource.ts"

/** The objects of the server at one moment. */
export interface State {
  /** All objects of a kind, in order. */
  readonly list: <A extends KubeObject>(resource: Resource.Resource<A>) => ReadonlyArray<A>
}

/** A name, and a check that returns what is wrong; undefined while it holds. */
export interface Invariant {
  /** What a report calls it. */
  readonly name: string
  /** What is wrong in that state; undefined where it holds. */
  readonly violation: (state: State) => string | undefined
}

/** An invariant of one's own. */
export const invariant = (name: string, violation: Invariant["violation"]): Invariant => ({ name, violation })

/** At no time more than so many objects of a kind, of those that the predicate selects. */
export const neverMoreThan = <A extends KubeObject>(
  count: number,
  resource: Resource.Resource<A>,
  where: (object: A) => boolean = () => true
): Invariant =>
  invariant(`never more than ${count} ${Resource.qualifiedName(resource)}`, ({ list }) => {
    const found = list(resource).filter(where)
    return found.length <= count ? undefined : `there are ${found.length}: ${found.map(Key.of).join(", ")}`
  })

/** Each object of a kind, at any time. */
export const always = <A extends KubeObject>(
  name: string,
  resource: Resource.Resource<A>,
  holds: (object: A, state: State) => boolean
): Invariant =>
  invariant(name, (state) => {
    const broken = state.list(resource).find((object) => !holds(object, state))
    return broken === undefined ? undefined : `not of ${Resource.qualifiedName(resource)} ${Key.of(broken)}`
  })
