/**
 * Endpoints equal the pods' addresses, in as few subsets as their ports allow, and are written only when these change.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../../src/controllers/endpoints/plan.ts"
import * as Subsets from "../../../src/controllers/endpoints/subsets.ts"
import * as Pods from "../../../src/controllers/shared/services/pods.ts"
import * as ServicePorts from "../../../src/controllers/shared/services/servicePorts.ts"
import type { Endpoints, Pod, Service } from "../../../src/kube/resources.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"
import { podFacts, podsOf, selected, service, serviceFacts } from "../shared/services/objects.ts"

const scene = Arbitrary.all({
  service: serviceFacts,
  pods: Arbitrary.array(podFacts, { maxLength: 8 }),
  before: Arbitrary.array(podFacts, { maxLength: 8 }),
  as: serviceFacts,
  time: oneOf("", "1970-01-01T00:00:05Z")
})

type Scene = typeof scene extends Arbitrary.Arbitrary<infer A> ? A : never

const snapshot = (given: Scene, current: Endpoints | undefined): Plan.Snapshot => {
  const one = service(given.service)
  const time = given.time === "" ? undefined : given.time
  return { service: one, pods: selected(one, podsOf(given.pods)), current, time }
}

const carryOut = (current: Endpoints | undefined, plan: Plan.Plan): Endpoints | undefined =>
  plan._tag === "None" ? current : plan._tag === "Update" ? plan.endpoints : (plan.draft as Endpoints)

/** Endpoints from an earlier sync, if there are any. */
const before = ({ as, before: pods, service: facts }: Scene): Endpoints | undefined => {
  const given = { ...service(facts), ...(facts.selector === "none" ? {} : { spec: service(as).spec }) } as Service
  if (pods.length === 0) return undefined
  return carryOut(
    undefined,
    Plan.plan({ service: given, pods: selected(given, podsOf(pods)), current: undefined, time: undefined })
  )
}

const after = (given: Scene): Endpoints | undefined => {
  const current = before(given)
  return carryOut(current, Plan.plan(snapshot(given, current)))
}

const line = (ready: boolean, { hostname, ip, nodeName, targetRef }: Subsets.Address, port: object | string): string =>
  JSON.stringify([ready, ip, hostname, nodeName, targetRef?.uid, port])

/** One line for each address and port. */
const linesOf = (subsets: ReadonlyArray<Subsets.Subset>): ReadonlyArray<string> =>
  subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports }) =>
    [addresses, notReadyAddresses].flatMap((all, i) =>
      all.flatMap((address) =>
        ports === undefined
          ? [line(i === 0, address, "any")]
          : ports.map((port) => line(i === 0, address, ServicePorts.keyOf(port)))
      )
    )
  )

const familyOf = (one: Service, pod: Pod): string => {
  const { clusterIP, ipFamilies } = one.spec ?? {}
  return ipFamilies?.[0] ?? Pods.familyOf(clusterIP === "None" ? (pod.status?.podIP ?? "") : (clusterIP ?? ""))
}

/** The expected addresses, pod by pod. */
const expected = ({ pods, service: one }: Pick<Plan.Snapshot, "pods" | "service">): ReadonlyArray<string> =>
  pods.flatMap((pod) => {
    const publishes = one.spec?.publishNotReadyAddresses === true
    const ended = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed"
    if (ended || (pod.metadata.deletionTimestamp !== undefined && !publishes)) return []
    const ip = pod.status?.podIPs?.map((one) => one.ip).find((ip) => Pods.familyOf(ip) === familyOf(one, pod))
    if (ip === undefined) return []
    const here = pod.spec?.subdomain === "web"
    const address = {
      ip,
      ...(here ? { hostname: `host-${pod.metadata.name.slice(4)}` } : {}),
      nodeName: pod.spec?.nodeName,
      targetRef: { uid: pod.metadata.uid }
    } as Subsets.Address
    const ready = publishes || pod.status?.conditions?.[0]?.status === "True"
    const named = pod.spec?.containers[0]?.ports?.[0]?.containerPort
    const ports = (one.spec?.ports ?? []).flatMap(({ appProtocol, name = "", targetPort }) => {
      const port = typeof targetPort === "number" ? targetPort : named
      return port === undefined ? [] : [ServicePorts.keyOf({ name, port, protocol: "TCP", appProtocol })]
    })
    if ((one.spec?.ports ?? []).length === 0) return one.spec?.clusterIP === "None" ? [line(ready, address, "any")] : []
    return ports.map((port) => line(ready, address, port))
  })

const sorted = (lines: ReadonlyArray<string>): string => [...lines].sort().join("\n")

describe("Subsets", () => {
  checkProperty("contain exactly the pods' addresses", scene, (given) => {
    const { pods, service } = snapshot(given, undefined)
    return sorted(linesOf(Subsets.of(service, pods))) === sorted(expected({ pods, service }))
  })

  checkProperty("have no addresses in common in the same state, and none is empty", scene, (given) => {
    const { pods, service } = snapshot(given, undefined)
    const keys = Subsets.of(service, pods).map((one) => JSON.stringify([one.addresses, one.notReadyAddresses]))
    return new Set(keys).size === keys.length && !keys.includes("[null,null]")
  })

  checkProperty("do not depend on the order of the pods", scene, (given) => {
    const { pods, service } = snapshot(given, undefined)
    return JSON.stringify(Subsets.of(service, pods)) === JSON.stringify(Subsets.of(service, pods.toReversed()))
  })

  checkProperty("subsets differ by state and port", scene, (given) => {
    const { pods, service: one } = snapshot(given, undefined)
    const subsets = Subsets.of(one, pods)
    const unready = subsets.map(({ addresses = [], ports = [] }) => ({ notReadyAddresses: addresses, ports }))
    const lost = subsets.map(({ addresses = [], ports = [] }) => ({ addresses, ports }))
    const moved = subsets.map((one) => ({ ...one, ports: [{ port: 1 }] }))
    const hasReady = subsets.some(({ addresses }) => addresses !== undefined)
    const hasOther = subsets.some(({ notReadyAddresses }) => notReadyAddresses !== undefined)
    return (
      Subsets.isSame(unready, subsets) !== (hasReady || hasOther) &&
      Subsets.isSame(lost, subsets) !== hasOther &&
      Subsets.isSame(moved, subsets) !== subsets.length > 0
    )
  })

  checkProperty("subsets are the same for equal content in any order", scene, (given) => {
    const { pods, service: one } = snapshot(given, undefined)
    const subsets = Subsets.of(one, pods)
    const others = Subsets.of(one, selected(one, podsOf(given.before)))
    const turned = subsets
      .toReversed()
      .map((one) => Object.assign({}, one, { addresses: (one.addresses ?? []).toReversed() }))
    const isSame = sorted(linesOf(subsets)) === sorted(linesOf(others))
    return Subsets.isSame(turned, subsets) && Subsets.isSame(subsets, others) === isSame
  })
})

describe("Plan", () => {
  checkProperty(
    "applied, the Endpoints contain the pods' addresses",
    scene,
    (given) => sorted(linesOf(after(given)?.subsets ?? [])) === sorted(expected(snapshot(given, undefined)))
  )

  checkProperty(
    "is idempotent",
    scene,
    (given) => Plan.plan({ ...snapshot(given, after(given)), time: "1970-01-01T00:00:09Z" })._tag === "None"
  )

  checkProperty("sets the Service's labels and the managed-by label", scene, (given) => {
    const { metadata, spec } = service(given.service)
    const labels = after(given)?.metadata.labels
    return (
      labels?.["team"] === metadata.labels?.["team"] &&
      labels?.["endpoints.kubernetes.io/managed-by"] === "endpoint-controller" &&
      (labels["service.kubernetes.io/headless"] === "") === (spec?.clusterIP === "None")
    )
  })

  checkProperty("writes the trigger time, or none, and keeps other annotations", scene, (given) => {
    const current = before(given)
    const key = "endpoints.kubernetes.io/last-change-trigger-time"
    const noted = current && {
      ...current,
      metadata: { ...current.metadata, annotations: { mine: "a", [key]: "old" } }
    }
    const plan = Plan.plan(snapshot(given, noted))
    if (plan._tag === "None") return true
    const { annotations } = (plan._tag === "Create" ? plan.draft : plan.endpoints).metadata ?? {}
    return (
      (annotations?.[key] ?? "") === given.time && annotations?.["mine"] === (noted === undefined ? undefined : "a")
    )
  })
})

/** Subsets with these numbers of ready and other addresses. */
const sizes = Arbitrary.array(Arbitrary.all({ ready: int(0, 700), other: int(0, 700) }), { minLength: 1, maxLength: 4 })

const subsetsOf = (
  all: ReadonlyArray<{ readonly ready: number; readonly other: number }>
): ReadonlyArray<Subsets.Subset> =>
  all.map(({ other, ready }, i) => {
    const ips = (count: number, kind: string) => Array.from({ length: count }, (_, n) => ({ ip: `${i}-${kind}-${n}` }))
    return { addresses: ips(ready, "ready"), notReadyAddresses: ips(other, "other"), ports: [{ port: 80 + i }] }
  })

const count = (subsets: ReadonlyArray<Subsets.Subset>, list: "addresses" | "notReadyAddresses"): number =>
  subsets.reduce((sum, one) => sum + (one[list]?.length ?? 0), 0)

describe("Subsets", () => {
  checkProperty("are truncated at 1,000, and no lower", sizes, (all) => {
    const given = subsetsOf(all)
    const { isTruncated, subsets } = Subsets.truncate(given)
    const before = Subsets.size(given)
    return Subsets.size(subsets) === Math.min(1000, before) && isTruncated === before > 1000
  })

  checkProperty("keep ready addresses before others", sizes, (all) => {
    const given = subsetsOf(all)
    return count(Subsets.truncate(given).subsets, "addresses") === Math.min(1000, count(given, "addresses"))
  })

  checkProperty("keep their share of those that do not all fit, and none is left empty", sizes, (all) => {
    const given = subsetsOf(all)
    if (Subsets.size(given) <= 1000) return true
    const { subsets } = Subsets.truncate(given)
    const list = count(given, "addresses") > 1000 ? "addresses" : "notReadyAddresses"
    const room = list === "addresses" ? 1000 : 1000 - count(given, "addresses")
    const share = room / count(given, list)
    return subsets.every((one) => {
      const whole = given.find(({ ports }) => ports?.[0]?.port === one.ports?.[0]?.port)
      return Subsets.size([one]) > 0 && (one[list]?.length ?? 0) < (whole?.[list]?.length ?? 0) * share + 1
    })
  })
})

describe("the ports of a Service on a pod", () => {
  const pod = (spec: object): Pod => ({ metadata: { name: "a" }, spec: spec as NonNullable<Pod["spec"]> })
  const http = (containerPort: number, more: object = {}) => ({ ports: [{ name: "http", containerPort, ...more }] })
  const named = { port: 80, targetPort: "http" }

  for (const [title, spec, port, expected] of [
    ["are the target ports that are numbers", {}, { port: 80, targetPort: 8080 }, 8080],
    ["are the Service's own ports without a target port", {}, { port: 80 }, 80],
    ["are those of the first container with a port of that name", { containers: [http(1), http(2)] }, named, 1],
    ["have the same protocol", { containers: [http(1, { protocol: "UDP" }), http(2)] }, named, 2],
    [
      "may be those of a sidecar",
      { containers: [], initContainers: [{ ...http(3), restartPolicy: "Always" }] },
      named,
      3
    ],
    [
      "are not those of an init container that completes",
      { containers: [], initContainers: [http(3)] },
      named,
      undefined
    ],
    ["are left out if no container has a port of that name", { containers: [] }, named, undefined]
  ] as const) {
    it(`they ${title}`, () => assert.strictEqual(ServicePorts.find(pod(spec), port), expected))
  }
})
