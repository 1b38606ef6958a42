/** Endpoints and mirrored slices for property tests, made from generated facts. */
import * as Arbitrary from "effect/Arbitrary"
import * as Mirrored from "../../../src/controllers/endpointslicemirroring/mirrored.ts"
import * as Desired from "../../../src/controllers/endpointslicemirroring/desired.ts"
import type { Draft } from "../../../src/kube/Meta.ts"
import type { Endpoints, EndpointSlice } from "../../../src/kube/resources.ts"
import { int, oneOf, type ValueOf } from "../../support/property.ts"

const address = Arbitrary.all({
  ip: oneOf(
    "10.0.0.1",
    "10.0.0.2",
    "10.0.0.3",
    "010.0.0.3",
    "::ffff:10.0.0.4",
    "fd00::1",
    "FD00:0::2",
    "300.0.0.1",
    "1::2::3",
    "web"
  ),
  pod: oneOf("", "", "a", "b"),
  node: oneOf("", "a"),
  host: oneOf("", "first")
})

const subset = Arbitrary.all({
  ports: oneOf("none", "http", "both", "turned", "named"),
  ready: Arbitrary.array(address, { maxLength: 3 }),
  unready: Arbitrary.array(address, { maxLength: 2 })
})

export const endpointsFacts = Arbitrary.all({
  subsets: Arbitrary.array(subset, { maxLength: 3 }),
  labels: oneOf("none", "team", "posing"),
  annotations: oneOf("none", "note", "own")
})

export type EndpointsFacts = ValueOf<typeof endpointsFacts>

const http = { port: 80, protocol: "TCP" }
const metrics = { name: "metrics", port: 90, protocol: "TCP", appProtocol: "http" }
const ports = {
  none: [],
  http: [http],
  both: [http, metrics],
  turned: [metrics, http],
  named: [{ ...http, name: "web" }]
}

const labels = {
  none: undefined,
  team: { team: "a" },
  posing: { "kubernetes.io/service-name": "other", "endpointslice.kubernetes.io/managed-by": "me" }
}
const annotations = {
  none: undefined,
  note: { note: "b" },
  own: {
    note: "c",
    "endpoints.kubernetes.io/last-change-trigger-time": "1970-01-01T00:00:05Z",
    "kubectl.kubernetes.io/last-applied-configuration": "{}"
  }
}

const addressOf = ({ host, ip, node, pod }: ValueOf<typeof address>) => ({
  ip,
  ...(host === "" ? {} : { hostname: host }),
  ...(node === "" ? {} : { nodeName: node }),
  ...(pod === "" ? {} : { targetRef: { kind: "Pod", namespace: "ns", name: pod, uid: `${pod}-uid` } })
})

export const endpointsOf = (facts: EndpointsFacts, uid = "uid"): Endpoints => ({
  metadata: {
    namespace: "ns",
    name: "web",
    uid,
    ...(facts.labels === "none" ? {} : { labels: labels[facts.labels] ?? {} }),
    ...(facts.annotations === "none" ? {} : { annotations: annotations[facts.annotations] ?? {} })
  },
  subsets: facts.subsets.map((one) => ({
    ports: ports[one.ports],
    addresses: one.ready.map(addressOf),
    notReadyAddresses: one.unready.map(addressOf)
  }))
})

/** As a server stores them: with a name, and without empty fields. */
export const written = (slice: EndpointSlice): EndpointSlice => {
  const { annotations = {}, ...metadata } = slice.metadata
  return { ...slice, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } }
}

export const stored = (draft: Draft<EndpointSlice>, name: string): EndpointSlice =>
  written({ ...draft, metadata: { ...draft.metadata, name, uid: `${name}-uid` } })

/** Slices that were created for earlier Endpoints. */
export const past = Arbitrary.all({
  of: endpointsFacts,
  /** How they relate to the current ones. */
  like: oneOf("other", "same", "same", "more", "flipped"),
  owner: oneOf("uid", "uid", "former-uid"),
  tampered: oneOf("no", "no", "labels", "annotations", "endpoints", "twice", "owner")
})

const tampering = {
  no: (slice: EndpointSlice) => slice,
  labels: (slice: EndpointSlice) => ({
    ...slice,
    metadata: { ...slice.metadata, labels: { ...slice.metadata.labels, mine: "x" } }
  }),
  annotations: (slice: EndpointSlice) => ({
    ...slice,
    metadata: { ...slice.metadata, annotations: { ...slice.metadata.annotations, mine: "x" } }
  }),
  endpoints: (slice: EndpointSlice) => ({ ...slice, endpoints: (slice.endpoints ?? []).slice(1) }),
  twice: (slice: EndpointSlice) => ({ ...slice, endpoints: [...(slice.endpoints ?? []), ...(slice.endpoints ?? [])] }),
  owner: (slice: EndpointSlice) => ({ ...slice, metadata: { ...slice.metadata, ownerReferences: [] } })
}

/** Earlier Endpoints, related to the current ones. */
const factsOf = ({ like, of }: ValueOf<typeof past>, present: EndpointsFacts): EndpointsFacts => {
  if (like === "other") return of
  const { subsets } = present
  if (like === "more") {
    const more = { ip: "10.0.0.1", pod: "b", node: "", host: "" } as const
    return { ...present, subsets: subsets.map((one) => ({ ...one, ready: [...one.ready, more] })) }
  }
  if (like === "flipped")
    return {
      ...present,
      subsets: subsets.map(({ ports, ready, unready }) => ({ ports, ready: unready, unready: ready }))
    }
  return { ...present, labels: of.labels, annotations: of.annotations }
}

export const slicesOf = (
  all: ReadonlyArray<ValueOf<typeof past>>,
  present: EndpointsFacts,
  limit: number
): ReadonlyArray<EndpointSlice> =>
  all.flatMap((one, i) => {
    const { owner, tampered } = one
    const endpoints = endpointsOf(factsOf(one, present), owner)
    return Desired.of(endpoints, limit).contents.map((content, j) =>
      tampering[tampered](stored(Mirrored.draft(endpoints, content), `${i}-${j}`))
    )
  })

export const limit = int(1, 4)
