/**
 * Which Endpoints a watch event enqueues: exactly those whose slices may have to change, and none for the renewal of a
 * leader election lock.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Triggers from "../../src/controllers/EndpointSliceMirroring.ts"
import * as Mirrored from "../../src/controllers/endpointslicemirroring/mirrored.ts"
import type { KubeObject } from "../../src/kube/Meta.ts"
import type { Endpoints, EndpointSlice, Service } from "../../src/kube/resources.ts"
import type { Delta } from "../../src/streams/store/Store.ts"
import { checkProperty, oneOf, type ValueOf } from "../support/property.ts"

const facts = Arbitrary.all({
  skip: oneOf(true, false),
  leads: oneOf(true, false),
  selector: oneOf(true, false),
  of: oneOf("web", "other", ""),
  ours: oneOf(true, false)
})
const change = Arbitrary.all({
  what: oneOf("Added", "Updated", "Deleted", "again"),
  before: facts,
  after: facts
})

type Facts = ValueOf<typeof facts>
type Change = ValueOf<typeof change>

const metadata = { namespace: "ns", name: "web" }

const endpoints = ({ leads, skip }: Facts): Endpoints => ({
  metadata: {
    ...metadata,
    labels: { "endpointslice.kubernetes.io/skip-mirror": String(skip) },
    annotations: leads ? { "control-plane.alpha.kubernetes.io/leader": "{}" } : {}
  }
})

const service = ({ selector }: Facts): Service => ({ metadata, spec: selector ? { selector: { app: "web" } } : {} })

const slice = ({ of, ours }: Facts): EndpointSlice => ({
  metadata: {
    ...metadata,
    name: "web-1",
    labels: {
      "endpointslice.kubernetes.io/managed-by": ours ? "endpointslicemirroring-controller.k8s.io" : "me",
      ...(of === "" ? {} : { "kubernetes.io/service-name": of })
    }
  },
  addressType: "IPv4",
  endpoints: []
})

const deltaOf = <A extends KubeObject>(make: (facts: Facts) => A, { after, before, what }: Change): Delta<A> => {
  const object = make(after)
  if (what === "again") return { _tag: "Updated", object, previous: object }
  return { _tag: what, object, ...(what === "Updated" ? { previous: make(before) } : {}) } as Delta<A>
}

/** The states before and after an event. */
const states = ({ after, before, what }: Change): ReadonlyArray<Facts> =>
  what === "Updated" ? [before, after] : [after]

const isOf = (keys: ReadonlyArray<string>, wanted: ReadonlyArray<string>): boolean =>
  [...keys].toSorted().join() === [...new Set(wanted)].toSorted().join()

describe("Triggers", () => {
  checkProperty("Endpoints enqueue themselves if they are or were to be mirrored", change, (given) =>
    isOf(
      Triggers.onEndpoints(deltaOf(endpoints, given)),
      states(given).some((one) => Mirrored.isWanted(endpoints(one))) ? ["ns/web"] : []
    )
  )

  checkProperty("a Service enqueues its Endpoints when its selector is removed or added", change, (given) => {
    const [first, last] = states(given)
    const leaves = (one: Facts | undefined) => one?.selector === false
    const hasChanged =
      given.what === "again" ? false : given.what === "Updated" ? leaves(first) !== leaves(last) : leaves(first)
    return isOf(Triggers.onService(deltaOf(service, given)), hasChanged ? ["ns/web"] : [])
  })

  checkProperty(
    "a slice enqueues the Endpoints of its labels, current and previous, if it is ours",
    change,
    (given) => {
      const wanted = states(given).flatMap(({ of, ours }) => (ours && of !== "" ? [`ns/${of}`] : []))
      return isOf(Triggers.onSlice(deltaOf(slice, given)), given.what === "again" ? [] : wanted)
    }
  )
})
