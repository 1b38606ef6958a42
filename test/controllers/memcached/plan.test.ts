import { describe } from "@effect/vitest"
/** The plan for any Memcached and its dependents follows the rules, and after it is applied nothing more is planned. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { Memcached } from "../../../src/controllers/memcached/kind.ts"
import * as Plan from "../../../src/controllers/memcached/plan.ts"
import type { OwnerReference } from "../../../src/kube/Meta.ts"
import type { Deployment } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { checkProperty } from "../../support/property.ts"

const count = Schema.Literals([0, 1, 2, 3, 4])

const Facts = Schema.Struct({
  size: Schema.Literals([1, 2, 3]),
  containerPort: Schema.Literals([11_211, 4000]),
  generation: Schema.Literals([1, 2]),
  image: Schema.Literals(["memcached:1", "memcached:2"]),
  /** The owner of the Deployment. `freed`: its owner was removed; `former`: an earlier Memcached of that name. */
  deployment: Schema.Literals(["none", "own", "freed", "former", "foreign", "unrelated"]),
  drift: Schema.Literals(["none", "replicas", "image", "port", "label", "sidecar", "theirs", "owner"]),
  observed: Schema.Boolean,
  availableReplicas: count,
  updatedReplicas: count,
  pods: Schema.Array(Schema.Literals(["a", "b", "c", "d"])).check(Schema.isMaxLength(4)),
  /** The condition in the present status: none, or True or False since second 1. */
  said: Schema.Literals(["nothing", "True", "False"])
})

type Facts = typeof Facts.Type
/** Second 9. */
const now = 9000

const memcachedOf = ({ containerPort, generation, said, size }: Facts): Memcached => ({
  metadata: { namespace: "n", name: "cache", uid: "mine", generation },
  spec: { size, containerPort },
  ...(said === "nothing"
    ? {}
    : {
        status: {
          nodes: [],
          conditions: [
            { type: "Available", status: said, lastTransitionTime: Time.format(1000), reason: "Before", message: "" },
            { type: "Other", status: "True", lastTransitionTime: Time.format(1000), reason: "Theirs", message: "" }
          ]
        }
      })
})

const ownerOf = (uid: string): OwnerReference => ({
  apiVersion: "cache.example.com/v1alpha1",
  kind: "Memcached",
  name: "cache",
  uid,
  controller: true,
  blockOwnerDeletion: true
})

const owners = {
  own: [ownerOf("mine")],
  freed: [],
  former: [ownerOf("former")],
  foreign: [{ ...ownerOf("x"), kind: "Other" }],
  unrelated: []
}

/** The applied object with the defaults of the API server. */
const stored = (intent: NonNullable<Plan.Plan["deployment"]>): Deployment => {
  const { template } = intent.spec
  const [container] = template.spec.containers
  return {
    metadata: { ...intent.metadata, uid: "d", generation: 5 },
    spec: {
      ...intent.spec,
      revisionHistoryLimit: 10,
      template: {
        ...template,
        spec: {
          restartPolicy: "Always",
          containers: [
            {
              terminationMessagePath: "/dev/termination-log",
              ...container,
              name: container?.name ?? "",
              ports: (container?.ports ?? []).map(({ containerPort }) => ({ protocol: "TCP", containerPort }))
            }
          ]
        }
      }
    }
  }
}

const drifted = (deployment: Deployment, { drift }: Facts): Deployment => {
  const { metadata, spec } = deployment
  if (spec === undefined) return deployment
  const containers = spec.template.spec?.containers ?? []
  const [container] = containers
  const running = (changed: ReadonlyArray<object>): Deployment => ({
    metadata,
    spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers: changed as never } } }
  })
  switch (drift) {
    case "replicas":
      return { metadata, spec: { ...spec, replicas: 7 } }
    case "image":
      return running([{ ...container, image: "other:1" }])
    case "port":
      return running([{ ...container, ports: [{ containerPort: 1, protocol: "TCP" }] }])
    case "sidecar":
      return running([...containers, { name: "sidecar", image: "other:1" }])
    case "label":
      return { metadata: { ...metadata, labels: {} }, spec }
    case "theirs":
      return {
        metadata: { ...metadata, labels: { ...metadata.labels, theirs: "yes" } },
        spec: { ...spec, paused: true }
      }
    case "owner":
      return {
        metadata: {
          ...metadata,
          ownerReferences: [
            { apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "x" },
            ...(metadata.ownerReferences ?? [])
          ]
        },
        spec
      }
    default:
      return deployment
  }
}

const wantedOf = (facts: Facts) => {
  const { deployment } = Plan.plan({
    memcached: memcachedOf(facts),
    deployment: undefined,
    pods: [],
    image: facts.image,
    now
  })
  if (deployment === undefined) throw new Error("nothing is wanted")
  return deployment
}

const deploymentOf = (facts: Facts): Deployment | undefined => {
  if (facts.deployment === "none") return undefined
  const { metadata, spec } = drifted(stored(wantedOf(facts)), facts)
  const theirs = (metadata.ownerReferences ?? []).filter(({ kind }) => kind === "ConfigMap")
  return {
    metadata: { ...metadata, ownerReferences: [...theirs, ...owners[facts.deployment]] },
    spec:
      spec === undefined || facts.deployment !== "unrelated"
        ? spec
        : { ...spec, selector: { matchLabels: { a: "b" } } },
    status: {
      observedGeneration: facts.observed ? 5 : 4,
      availableReplicas: facts.availableReplicas,
      updatedReplicas: facts.updatedReplicas
    }
  } as Deployment
}

const snapshotOf = (facts: Facts): Plan.Snapshot => ({
  memcached: memcachedOf(facts),
  deployment: deploymentOf(facts),
  pods: [...new Set(facts.pods)].map((name) => ({ metadata: { namespace: "n", name } })),
  image: facts.image,
  now
})

const isTheirs = ({ deployment }: Facts): boolean =>
  deployment === "foreign" || deployment === "former" || deployment === "unrelated"

/** Whether the Deployment is correct, so that there is nothing to write. */
const isAsWanted = ({ deployment, drift }: Facts): boolean =>
  deployment === "own" && ["none", "theirs", "owner", "sidecar"].includes(drift)

const isAvailable = (facts: Facts): boolean =>
  (facts.deployment === "own" || facts.deployment === "freed") &&
  facts.observed &&
  Math.min(facts.availableReplicas, facts.updatedReplicas) >= facts.size

const inputs = Arbitrary.schema(Facts)

const available = (status: Memcached["status"]) => status?.conditions?.find(({ type }) => type === "Available")

/** The Memcached with the planned status, if any; conditions are merged by type. */
const after = (memcached: Memcached, { status }: Plan.Plan): Memcached => {
  if (status === undefined) return memcached
  const mine = status.conditions ?? []
  const others = (memcached.status?.conditions ?? []).filter(({ type }) => !mine.some((one) => one.type === type))
  return { ...memcached, status: { ...status, conditions: [...mine, ...others] } }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

describe("Plan", () => {
  checkProperty("a Deployment is applied exactly if it is missing or differs", inputs, (facts) => {
    const { deployment } = Plan.plan(snapshotOf(facts))
    return (deployment !== undefined) === (!isTheirs(facts) && !isAsWanted(facts))
  })

  checkProperty("the applied Deployment has the size, the port, the image, and its owner", inputs, (facts) => {
    const { deployment } = Plan.plan({ ...snapshotOf(facts), deployment: undefined })
    const [container] = deployment?.spec.template.spec.containers ?? []
    return (
      deployment?.spec.replicas === facts.size &&
      container?.image === facts.image &&
      container.ports[0]?.containerPort === facts.containerPort &&
      container.command.includes(`-p=${facts.containerPort}`) &&
      same(deployment.spec.selector.matchLabels, deployment.spec.template.metadata.labels) &&
      same(deployment.metadata.ownerReferences, [ownerOf("mine")])
    )
  })

  checkProperty("a Deployment of another owner is not changed, and the sync is repeated later", inputs, (facts) => {
    const planned = Plan.plan(snapshotOf(facts))
    return planned.isBlocked === isTheirs(facts) && !(isTheirs(facts) && planned.deployment !== undefined)
  })

  checkProperty("after the writes nothing more is planned, at any time", inputs, (facts) => {
    const snapshot = snapshotOf(facts)
    const first = Plan.plan(snapshot)
    const deployment =
      first.deployment === undefined
        ? snapshot.deployment
        : {
            ...stored(first.deployment),
            ...(snapshot.deployment?.status && { status: snapshot.deployment.status })
          }
    const second = Plan.plan({
      ...snapshot,
      memcached: after(snapshot.memcached, first),
      deployment,
      now: now + 5000
    })
    const third = Plan.plan({
      ...snapshot,
      memcached: after(after(snapshot.memcached, first), second),
      deployment,
      now: now + 99_000
    })
    return second.deployment === undefined && third.status === undefined
  })

  checkProperty(
    "Available is True exactly if enough current servers are available, with the observed generation",
    inputs,
    (facts) => {
      const snapshot = snapshotOf(facts)
      const condition = available(after(snapshot.memcached, Plan.plan(snapshot)).status)
      return (
        condition?.status === (isAvailable(facts) ? "True" : "False") &&
        condition.observedGeneration === facts.generation &&
        (condition.reason === "NameTaken") === isTheirs(facts)
      )
    }
  )

  checkProperty("its transition time is that of the last change of status", inputs, (facts) => {
    const snapshot = snapshotOf(facts)
    const condition = available(after(snapshot.memcached, Plan.plan(snapshot)).status)
    return condition?.lastTransitionTime === Time.format(condition?.status === facts.said ? 1000 : now)
  })

  checkProperty("only its own status fields are written", inputs, (facts) => {
    const { status } = Plan.plan(snapshotOf(facts))
    return (
      status === undefined ||
      same(
        status.conditions?.map(({ type }) => type),
        ["Available"]
      )
    )
  })

  checkProperty("the pods are listed in order of their names", inputs, (facts) => {
    const snapshot = snapshotOf(facts)
    return same(after(snapshot.memcached, Plan.plan(snapshot)).status?.nodes ?? [], [...new Set(facts.pods)].toSorted())
  })

  checkProperty("a pod maps to the Memcached whose labels it has, and to no other", inputs, (facts) => {
    const labels = Plan.labelsOf(memcachedOf(facts))
    const pod = (labels: Readonly<Record<string, string>>) => ({ metadata: { name: "p", labels } })
    return Plan.instanceOf(pod(labels)) === "cache" && Plan.instanceOf(pod({ app: "cache" })) === undefined
  })
})
