/** Which kind each name of a quota is counted from, and that the usage of objects has the same names. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Names from "../../../src/kube/quota/names.ts"
import { checkProperty, oneOf } from "../../support/property.ts"

const table: Readonly<Record<string, ReadonlyArray<string>>> = {
  pods: [
    "pods",
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "hugepages-2Mi",
    "requests.hugepages-1Gi"
  ],
  services: ["services", "count/services", "services.nodeports", "services.loadbalancers"],
  persistentvolumeclaims: [
    "persistentvolumeclaims",
    "count/persistentvolumeclaims",
    "requests.storage",
    "gold.storageclass.storage.k8s.io/requests.storage",
    "gold.storageclass.storage.k8s.io/persistentvolumeclaims"
  ],
  "resourceclaims.resource.k8s.io": [
    "count/resourceclaims.resource.k8s.io",
    "gold.deviceclass.resource.k8s.io/devices"
  ],
  configmaps: ["configmaps", "count/configmaps"],
  secrets: ["secrets", "count/secrets"],
  replicationcontrollers: ["replicationcontrollers", "count/replicationcontrollers"],
  resourcequotas: ["resourcequotas", "count/resourcequotas"],
  "replicasets.apps": ["count/replicasets.apps"],
  "widgets.shop.example.com": ["count/widgets.shop.example.com"]
}

/** Names that a server stores and no evaluator counts. */
const uncounted = [
  "limits.hugepages-2Mi",
  "limits.example.com/dongle",
  "example.com/dongle",
  "requests.kubernetes.io/x",
  "requests.sub.kubernetes.io/x",
  "storage",
  "nodes",
  "gold.storageclass.storage.k8s.io/limits.storage"
]

const idOf = (name: string) => Names.kindsOf(name).map(Names.idOf).join()

describe("a name in a quota", () => {
  it("is counted from the objects of one kind", () => {
    const found = Object.fromEntries(Object.values(table).flatMap((names) => names.map((one) => [one, idOf(one)])))
    const expected = Object.fromEntries(
      Object.entries(table).flatMap(([id, names]) => names.map((one) => [one, id] as const))
    )
    assert.deepStrictEqual(found, expected)
  })

  it("that no evaluator counts is counted from nothing", () =>
    assert.deepStrictEqual(
      uncounted.flatMap((name) => Names.kindsOf(name)),
      []
    ))

  it("of an extended resource is counted from pods and ResourceClaims", () =>
    assert.deepStrictEqual(
      ["requests.example.com/dongle", "requests.deviceclass.resource.kubernetes.io/gold"].map((name) =>
        Names.kindsOf(name).map(Names.idOf)
      ),
      [
        ["pods", "resourceclaims.resource.k8s.io"],
        ["pods", "resourceclaims.resource.k8s.io"]
      ]
    ))

  it("of an extended resource has a domain that is not Kubernetes' own and no prefix requests., or names a device class", () => {
    const names = [
      "example.com/dongle",
      "cpu",
      "kubernetes.io/x",
      "requests.example.com/dongle",
      "hugepages-2Mi",
      "deviceclass.resource.kubernetes.io/gold"
    ]
    assert.deepStrictEqual(names.filter(Names.isExtended), [
      "example.com/dongle",
      "deviceclass.resource.kubernetes.io/gold"
    ])
  })
})

const kind = Arbitrary.all({
  group: oneOf("", "apps", "shop.example.com", "resource.k8s.io"),
  plural: oneOf("pods", "services", "secrets", "widgets", "resourceclaims")
})

describe("Names", () => {
  checkProperty("count/<kind> is counted from that kind and from no other", kind, (value) => {
    const name = Names.countOf(value)
    return Names.isOf(name, value) && !Names.isOf(name, { ...value, plural: "others" })
  })

  checkProperty("the short name of a core kind is counted from that kind", kind, (value) => {
    const alias = Names.aliasOf(value)
    return alias === undefined
      ? value.group !== "" || value.plural === "widgets" || value.plural === "resourceclaims"
      : Names.isOf(alias, value)
  })
})
