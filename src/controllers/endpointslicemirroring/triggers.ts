/**
 * Which Endpoints a change asks for. Those that want to be mirrored, or wanted it before; those of a Service that comes, goes, or changes its mind about
 * who keeps them; and those of a mirrored slice that is not as it was. Source: spec F.4.
 */
import * as Key from "../../kube/Key.ts"
import type { Endpoints, EndpointSlice, Service } from "../../kube/resources.ts"
import type { Trigger } from "../../streams/store/trigger.ts"
import * as Mirrored from "./mirrored.ts"

const none: ReadonlyArray<Key.Key> = []

export const endpoints: Trigger<Endpoints> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.isWanted(object) || (delta._tag === "Updated" && Mirrored.isWanted(delta.previous))
  return isOurs ? [Key.of(object)] : none
}

export const services: Trigger<Service> = (delta) => {
  const { object } = delta
  const isOurs = Mirrored.leavesToOthers(object)
  if (delta._tag === "Updated") return Mirrored.leavesToOthers(delta.previous) === isOurs ? none : [Key.of(object)]
  return isOurs ? [Key.of(object)] : none
}

/** Our own writes among them: to look once more costs nothing but a look. */
export const slices: Trigger<EndpointSlice> = (delta) => {
  const keys = [Mirrored.endpointsOf(delta.object)]
  if (delta._tag === "Updated") {
    if (delta.previous === delta.object) return none
    keys.push(Mirrored.endpointsOf(delta.previous))
  }
  return [...new Set(keys)].filter((key) => key !== undefined)
}
