/** A change enqueues every Service whose endpoints it changes, and no other. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Desired from "../../../../src/controllers/endpointslice/plan/desired.ts"
import * as Subsets from "../../../../src/controllers/endpoints/subsets.ts"
import * as Selection from "../../../../src/controllers/shared/services/selection.ts"
import * as Watching from "../../../../src/controllers/shared/services/serviceTriggers.ts"
import * as Key from "../../../../src/kube/Key.ts"
import type { Pod, Service } from "../../../../src/kube/resources.ts"
import type { Delta } from "../../../../src/streams/store/Store.ts"
import { checkProperty, int } from "../../../support/property.ts"
import { nodeOf, pod, podFacts, selected, service, serviceFacts, tableOf } from "./objects.ts"

const scene = Arbitrary.all({
  services: Arbitrary.array(serviceFacts, { minLength: 1, maxLength: 3 }),
  before: podFacts,
  after: podFacts,
  /** Which part of the pod changes; the rest stays. */
  part: int(0, 10)
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const parts = [
  ["labels"],
  ["phase"],
  ["ready"],
  ["families"],
  ["going"],
  ["since"],
  ["labels", "ready"],
  ["labels", "families"]
]

/** Two states of one pod; name, ports and node do not change. */
const states = ({ after, before, part }: Scene): readonly [Pod, Pod] => {
  const changed = new Set(parts[part % parts.length])
  const changes = Object.fromEntries(Object.entries(after).filter(([key]) => changed.has(key)))
  return [pod(before), pod({ ...before, ...changes })]
}

const servicesOf = ({ services }: Scene): ReadonlyArray<Service> => services.map((facts, i) => service(facts, `s${i}`))

/** What the pod contributes to Endpoints and to slices of a Service. */
const shown = (one: Service, state: Pod | undefined): string => {
  const pods = state === undefined ? [] : selected(one, [state])
  const { groups, lost } = Desired.of(one, pods, nodeOf)
  const slices = groups.map(({ endpoints, family, ports }) => [family, ports.key, [...endpoints.values()]])
  return JSON.stringify([slices, lost.length, Subsets.of(one, pods)])
}

const asked = (given: Scene, delta: Delta<Pod>): ReadonlyArray<string> =>
  Watching.pods(tableOf(Selection, servicesOf(given)))(delta)

const covers = (keys: ReadonlyArray<string>, given: Scene, from: Pod | undefined, to: Pod | undefined): boolean =>
  servicesOf(given).every((one) => shown(one, from) === shown(one, to) || keys.includes(Key.of(one)))

describe("Watching", () => {
  checkProperty("a change enqueues all Services whose endpoints it changes", scene, (given) => {
    const [previous, object] = states(given)
    return covers(asked(given, { _tag: "Updated", previous, object }), given, previous, object)
  })

  checkProperty("a created or deleted pod enqueues all Services whose endpoints it changes", scene, (given) => {
    const [object] = states(given)
    const came = asked(given, { _tag: "Created", object, initial: false })
    const went = asked(given, { _tag: "Deleted", object, stateUnknown: false })
    return covers(came, given, undefined, object) && covers(went, given, object, undefined)
  })

  checkProperty(
    "an enqueued Service selects the pod before or after the change, and is enqueued once",
    scene,
    (given) => {
      const [previous, object] = states(given)
      const keys = asked(given, { _tag: "Updated", previous, object })
      const concerned = servicesOf(given).filter((one) => selected(one, [previous, object]).length > 0)
      return new Set(keys).size === keys.length && keys.every((key) => concerned.map(Key.of).includes(key))
    }
  )

  checkProperty("a change without effect on endpoints enqueues nothing", scene, (given) => {
    const object = pod({ ...given.before, families: "none" })
    const other = pod({ ...given.after, id: given.before.id, families: "none" })
    const seen = pod({ ...given.before, families: "4", phase: "Running" })
    const same = { ...seen, metadata: { ...seen.metadata, resourceVersion: "2", annotations: { a: "b" } } }
    return (
      [
        ...asked(given, { _tag: "Created", object, initial: false }),
        ...asked(given, { _tag: "Updated", previous: object, object: other }),
        ...asked(given, { _tag: "Updated", previous: seen, object: same })
      ].length === 0
    )
  })

  checkProperty("a change of labels does not enqueue Services that select the pod before and after", scene, (given) => {
    const web = service({ ...given.services[0], selector: "web" } as Parameters<typeof service>[0], "s0")
    const [previous, object] = (["web", "web front"] as const).map((labels) =>
      pod({ ...given.before, labels, families: "4", phase: "Running" })
    )
    if (previous === undefined || object === undefined) return false
    return Watching.pods(tableOf(Selection, [web]))({ _tag: "Updated", previous, object }).length === 0
  })
})

describe("Services", () => {
  it("enqueue themselves, and are found by their new selector afterwards", () => {
    const table = Selection.makeTable()
    const trigger = Watching.services(table)
    const facts = {
      ports: "number",
      ip: "10.96.0.1",
      families: "4",
      publishes: false,
      labels: "none",
      traffic: "none"
    } as const
    const web = service({ ...facts, selector: "web" })
    const front = service({ ...facts, selector: "web front" })
    assert.deepStrictEqual(trigger({ _tag: "Created", object: web, initial: false }), ["ns/web"])
    assert.deepStrictEqual(table.matching("ns", { app: "web" }), ["ns/web"])
    assert.deepStrictEqual(trigger({ _tag: "Updated", previous: web, object: front }), ["ns/web"])
    assert.deepStrictEqual(table.matching("ns", { app: "web" }), [])
    assert.deepStrictEqual(table.matching("ns", { app: "web", tier: "front" }), ["ns/web"])
    assert.deepStrictEqual(trigger({ _tag: "Deleted", object: front, stateUnknown: false }), ["ns/web"])
    assert.deepStrictEqual(table.matching("ns", { app: "web", tier: "front" }), [])
  })
})
