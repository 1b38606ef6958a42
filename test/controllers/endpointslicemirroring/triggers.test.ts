/** Who is asked for: exactly those whose slices may have to change, and nobody for the heartbeat of a lock. */
import * as Arbitrary from "effect/Arbitrary"
import * as Mirrored from "../../../src/controllers/endpointslicemirroring/mirrored.ts"
import * as Triggers from "../../../src/controllers/endpointslicemirroring/triggers.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import type { Endpoints, EndpointSlice, Service } from "../../../src/kube/resources.ts"
import type { Delta } from "../../../src/streams/Delta.ts"
import { law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

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

/** The states that a change tells of. */
const states = ({ after, before, what }: Change): ReadonlyArray<Facts> =>
  what === "Updated" ? [before, after] : [after]

const isOf = (keys: ReadonlyArray<string>, wanted: ReadonlyArray<string>): boolean =>
  [...keys].toSorted().join() === [...new Set(wanted)].toSorted().join()

prove<typeof Triggers>({
  path: "controllers/endpointslicemirroring/triggers.ts",
  module: Triggers,
  laws: [
    law("Endpoints ask for themselves if they are to be mirrored or were", change, (module, given) =>
      isOf(
        module.endpoints(deltaOf(endpoints, given)),
        states(given).some((one) => Mirrored.isWanted(endpoints(one))) ? ["ns/web"] : []
      )
    ),
    law("a Service asks when it comes to leave its Endpoints to others, or to keep them", change, (module, given) => {
      const [first, last] = states(given)
      const leaves = (one: Facts | undefined) => one?.selector === false
      const hasChanged =
        given.what === "again" ? false : given.what === "Updated" ? leaves(first) !== leaves(last) : leaves(first)
      return isOf(module.services(deltaOf(service, given)), hasChanged ? ["ns/web"] : [])
    }),
    law("a slice asks for those whose it is and was, if it is ours", change, (module, given) => {
      const wanted = states(given).flatMap(({ of, ours }) => (ours && of !== "" ? [`ns/${of}`] : []))
      return isOf(module.slices(deltaOf(slice, given)), given.what === "again" ? [] : wanted)
    })
  ],
  mutants: [
    {
      title: "locks ask too",
      find: "return isOurs ? [Key.of(object)] : none\n}\n\nexport const services",
      replace: "return isOurs || true ? [Key.of(object)] : none\n}\n\nexport const services"
    },
    {
      title: "who wants it no more is forgotten",
      find: '(delta._tag === "Updated" && Mirrored.isWanted(delta.previous))',
      replace: "false"
    },
    {
      title: "every change of a Service asks",
      find: "=== isOurs ? none : [Key.of(object)]",
      replace: "=== isOurs ? [Key.of(object)] : [Key.of(object)]"
    },
    {
      title: "a Service that comes asks nobody",
      find: "  return isOurs ? [Key.of(object)] : none\n}\n\n/** Our",
      replace: "  return none\n}\n\n/** Our"
    },
    { title: "where a slice was is forgotten", find: "keys.push(Mirrored.endpointsOf(delta.previous))", replace: "" },
    { title: "a slice that is as it was asks", find: "if (delta.previous === delta.object) return none", replace: "" },
    { title: "one is asked for twice", find: "[...new Set(keys)]", replace: "keys" }
  ]
})
