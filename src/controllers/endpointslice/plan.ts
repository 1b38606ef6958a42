/**
 * What to write so that the slices of a Service say what they should: the difference between the model and the slices there are. Pure and
 * total; carried out in full, it is empty the next time. Source: spec F.3.
 */
import type { Draft } from "../../kube/Meta.ts"
import type { EndpointSlice, Node, Pod, Service } from "../../kube/resources.ts"
import * as Pack from "../services/pack.ts"
import type { Family } from "../services/pods.ts"
import * as ServicePorts from "../services/servicePorts.ts"
import * as Model from "./model.ts"
import * as Slices from "./slices.ts"

export interface Gathered {
  readonly service: Service
  /** Those that the Service selects. */
  readonly pods: ReadonlyArray<Pod>
  /** Those that say they are the Service's and ours, none that is being deleted. */
  readonly slices: ReadonlyArray<EndpointSlice>
  readonly nodeOf: (name: string) => Node | undefined
  /** What the trigger time is, as text. */
  readonly time: string | undefined
  /** Endpoints in a slice, at most. */
  readonly limit: number
}

/** In the order in which it is to be done. */
export interface Plan {
  readonly creates: ReadonlyArray<Draft<EndpointSlice>>
  readonly updates: ReadonlyArray<EndpointSlice>
  readonly deletes: ReadonlyArray<EndpointSlice>
  /** Pods that are left out because nobody knows their node. */
  readonly lost: ReadonlyArray<Pod>
  /** Endpoints that the slices will have. */
  readonly endpoints: number
}

const rules = { identity: Model.identity, equal: Model.equal }

export const plan = (gathered: Gathered): Plan => {
  const { nodeOf, pods, service, slices, time } = gathered
  const model = Model.of(service, pods, nodeOf)
  const writing: Slices.Writing = { service, labels: Slices.labelsOf(service), time }
  const isLeaving = service.metadata.deletionTimestamp !== undefined
  const creates: Array<Draft<EndpointSlice>> = []
  const updates: Array<EndpointSlice> = []
  const deletes = slices.filter((slice) => !isServed(model, service, slice))
  for (const family of model.families) {
    const change = inFamily(gathered, model, { family, writing })
    if (!isLeaving) creates.push(...change.creates.map((content) => Slices.draft(writing, content)))
    updates.push(...change.updates.map(({ content, slice }) => Slices.rewrite(slice, writing, content)))
    deletes.push(...change.deletes)
  }
  const endpoints = model.groups.reduce((sum, group) => sum + group.endpoints.size, 0)
  return { creates, updates, deletes, lost: model.lost, endpoints }
}

/** Of a family that the Service has, and its own: others cannot become what it needs. */
const isServed = (model: Model.Model, service: Service, slice: EndpointSlice): boolean =>
  model.families.some((family) => family === slice.addressType) && Slices.isOwned(slice, service)

interface Change {
  readonly creates: ReadonlyArray<Slices.Content>
  readonly updates: ReadonlyArray<{ readonly slice: EndpointSlice; readonly content: Slices.Content }>
  readonly deletes: ReadonlyArray<EndpointSlice>
}

const inFamily = (
  { limit, service, slices }: Gathered,
  model: Model.Model,
  { family, writing }: { readonly family: Family; readonly writing: Slices.Writing }
): Change => {
  const byPorts = new Map<string, Array<Pack.Slice<EndpointSlice, Model.Endpoint>>>()
  for (const slice of slices) {
    if (slice.addressType !== family || !Slices.isOwned(slice, service)) continue
    const key = ServicePorts.keyOfAll(slice.ports ?? [])
    const isStale = !Slices.hasLabels(slice, writing.labels)
    const same = byPorts.get(key)
    const one = { slice, endpoints: slice.endpoints ?? [], isStale }
    if (same === undefined) byPorts.set(key, [one])
    else same.push(one)
  }
  const groups = model.groups
    .filter((group) => group.family === family)
    .map((group) => {
      const { key } = group.ports
      const own = byPorts.get(key) ?? []
      byPorts.delete(key)
      return { group, desired: group.endpoints, slices: own }
    })
  const spare = [...byPorts.values()].flat().map(({ slice }) => slice)
  const packing = Pack.pack(groups, spare, { ...rules, limit })
  return held(packing) ? contents(packing) : empty({ family, writing }, packing.deletes)
}

type Packing = Pack.Packing<Model.Group, EndpointSlice, Model.Endpoint>

/** Whether a slice will be there. */
const held = ({ creates, unchanged, updates }: Packing): boolean => creates.length + updates.length + unchanged > 0

const contents = ({ creates, deletes, updates }: Packing): Change => ({
  creates: creates.map(content),
  updates: updates.map((update) => ({ slice: update.slice, content: content(update) })),
  deletes
})

const content = ({ endpoints, group }: Pack.Filled<Model.Group, Model.Endpoint>): Slices.Content => ({
  family: group.family,
  ports: group.ports.ports,
  endpoints
})

/** A Service without endpoints has a slice that says so: the one there is, one that nobody needs any more, or a new one. */
const empty = (
  { family, writing }: { readonly family: Family; readonly writing: Slices.Writing },
  spare: ReadonlyArray<EndpointSlice>
): Change => {
  const content: Slices.Content = { family, ports: [], endpoints: [] }
  const kept = spare.find((slice) => Slices.isPlaceholder(slice, writing.labels)) ?? spare[0]
  if (kept === undefined) return { creates: [content], updates: [], deletes: [] }
  const deletes = spare.filter((slice) => slice !== kept)
  return Slices.isPlaceholder(kept, writing.labels)
    ? { creates: [], updates: [], deletes }
    : { creates: [], updates: [{ slice: kept, content }], deletes }
}
