/**
 * `/debug/leader`: for each group of controllers that lead together, under which lease, who we are, who leads, and for how long we
 * can prove that it is us. Read from the elections at this moment. Source: framework.md 5.2.
 */
import * as Effect from "effect/Effect"
import type { Group } from "../../layers/Inspection.ts"
import { seconds } from "./page.ts"

export const render = (groups: ReadonlyArray<Group>) =>
  Effect.map(
    Effect.forEach(groups, ({ controllers, leadership }) =>
      Effect.gen(function* () {
        const provenFor = yield* leadership.provenFor
        const { identity, lease } = leadership
        return {
          lease: lease === undefined ? null : `${lease.namespace}/${lease.name}`,
          identity: lease === undefined ? null : identity,
          leader: lease === undefined ? null : ((yield* leadership.leader) ?? null),
          leads: provenFor !== undefined,
          /** Null without an election: then there is nothing to run out; and while we do not lead. */
          validForSeconds: seconds(provenFor),
          controllers
        }
      })
    ),
    (groups) => ({ groups })
  )
