/** The permissions are exactly those that the descriptors declare, each once. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Access from "../../src/kube/Access.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { Deployment, Node, Pod } from "../../src/kube/resources.ts"
import { allows } from "../../src/apiserver/authorization/rule.ts"
import {
  covers,
  delegated,
  type Holder,
  kinds,
  minimal,
  needed,
  type Permission
} from "../../src/manager/permissions.ts"
import { runs } from "../support/runs.ts"

const one = <const A extends ReadonlyArray<string>>(...values: A) => Arbitrary.schema(Schema.Literals(values))

const fields = {
  verb: one("list", "patch"),
  subresource: one("", "status"),
  namespace: one("", "blue"),
  name: one("", "a")
}

const permission: Arbitrary.Arbitrary<Permission> = Arbitrary.map(
  Arbitrary.all({ ...fields, group: one("", "apps", "*"), resource: one("pods", "sets", "*") }),
  (all) => ({ ...all, needed: ["test"] })
)

/** The permission that a request needs. */
const concrete: Arbitrary.Arbitrary<Permission> = Arbitrary.map(
  Arbitrary.all({ ...fields, group: one("", "apps"), resource: one("pods", "sets") }),
  (all) => ({ ...all, needed: ["test"] })
)

const short = ({ group, name, namespace, needed, resource, subresource, verb }: Permission) =>
  `${verb} ${group}/${resource}${subresource === "" ? "" : `/${subresource}`} ${namespace}/${name} for ${needed.join()}`

describe("permissions", () => {
  it("are the verbs of the grants", () =>
    assert.deepStrictEqual(
      needed({
        controllers: [
          { who: "a", access: [Access.read(Pod), Access.patch(Node, "status")] },
          { who: "b", access: [Access.list(Pod), Access.remove(Resource.anything), Access.record] }
        ],
        leases: []
      }).map(short),
      [
        "list /pods / for a,b",
        "watch /pods / for a",
        "patch /nodes/status / for a",
        "delete */* / for b",
        "create /events / for b",
        "patch /events / for b"
      ]
    ))

  it("to read a projection are those to read the kind, because RBAC has no fields", () =>
    assert.deepStrictEqual(
      needed({
        controllers: [
          { who: "a", access: [Access.read(Resource.selected(Pod, "status.phase=Running"))] },
          { who: "b", access: [Access.read(Pod)] }
        ],
        leases: []
      }).map(short),
      ["list /pods / for a,b", "watch /pods / for a,b"]
    ))

  it("to cache the namespaces of one's shards include watching Namespaces, unless they are a list", () => {
    const verbs = (namespaces: ReadonlyArray<string>) =>
      needed({ controllers: [], leases: [], isCacheDivided: true, namespaces }).map(short)
    assert.deepStrictEqual(verbs([]), ["list /namespaces / for sharding", "watch /namespaces / for sharding"])
    assert.deepStrictEqual(verbs(["shop"]), [])
  })

  it("of a lease are for that one, except to create it, which cannot be", () =>
    assert.deepStrictEqual(
      needed({ controllers: [], leases: [{ namespace: "kube-system", name: "kcm" }] }).map(short),
      [
        "get coordination.k8s.io/leases kube-system/kcm",
        "watch coordination.k8s.io/leases kube-system/kcm",
        "update coordination.k8s.io/leases kube-system/kcm",
        "create coordination.k8s.io/leases kube-system/",
        "create /events kube-system/",
        "patch /events kube-system/"
      ].map((line) => `${line} for leader election`)
    ))

  it("list each kind once, whatever projection is read", () =>
    assert.deepStrictEqual(
      kinds([
        { who: "a", access: [Access.read(Pod), Access.patch(Pod), Access.read(Resource.metadataOnly(Deployment))] },
        {
          who: "b",
          access: [Access.read(Deployment), Access.list(Resource.anything), Access.whereServed(Access.list(Node))]
        }
      ]).map(({ needed, resource }) => `${Resource.qualifiedName(resource)} for ${needed.join()}`),
      ["pods for a", "deployments.apps for a,b"]
    ))

  it("to scale any kind are limited to the chosen namespaces", () =>
    assert.deepStrictEqual(
      needed({
        controllers: [{ who: "a", access: [Access.get(Resource.anything, "scale"), Access.get(Resource.anything)] }],
        leases: [],
        namespaces: ["blue", "red"]
      }).map(({ namespace, resource, subresource }) => `${namespace}: ${resource} ${subresource}`),
      ["blue: * scale", "red: * scale", ": * "]
    ))

  const grants: ReadonlyArray<(resource: Resource.Any) => Access.Any> = [
    Access.read,
    Access.list,
    Access.create,
    Access.update,
    Access.patch,
    Access.remove
  ]
  const resources = [Pod, Node, Deployment, Resource.anything]
  const choice = Schema.Tuple([
    Schema.Literals(["a", "b", "c"]),
    Schema.Literals([0, 1, 2, 3, 4, 5]),
    Schema.Literals([0, 1, 2, 3])
  ])

  it.prop(
    "each verb of each declaration occurs exactly once, with the controllers that need it",
    [Schema.Array(choice)],
    ([choices]) => {
      const holders: ReadonlyArray<Holder> = choices.map(([who, grant, resource]) => ({
        who,
        access: [grants[grant]!(resources[resource]!)]
      }))
      const asked = needed({ controllers: holders, leases: [] })
      const keys = asked.map(({ group, resource, verb }) => `${verb} ${group}/${resource}`)
      assert.strictEqual(new Set(keys).size, keys.length)
      const declared = new Set(
        holders.flatMap(({ access, who }) =>
          access.flatMap(({ grant, resource }) =>
            Access.verbs[grant].map((verb) => `${who}: ${verb} ${resource.group}/${resource.plural}`)
          )
        )
      )
      const told = asked.flatMap(({ group, needed, resource, verb }) =>
        needed.map((who) => `${who}: ${verb} ${group}/${resource}`)
      )
      assert.sameMembers(told, [...declared])
    }
  )

  it("for chosen namespaces include cluster-scoped kinds", () =>
    assert.deepStrictEqual(
      needed({
        controllers: [{ who: "a", access: [Access.read(Pod), Access.patch(Node), Access.record] }],
        leases: [{ namespace: "ops", name: "mine" }],
        namespaces: ["blue", "red"]
      }).map(short),
      [
        "list /pods blue/ for a",
        "watch /pods blue/ for a",
        "list /pods red/ for a",
        "watch /pods red/ for a",
        "patch /nodes / for a",
        "create /events blue/ for a",
        "patch /events blue/ for a",
        "create /events red/ for a",
        "patch /events red/ for a",
        "get coordination.k8s.io/leases ops/mine for leader election",
        "watch coordination.k8s.io/leases ops/mine for leader election",
        "update coordination.k8s.io/leases ops/mine for leader election",
        "create coordination.k8s.io/leases ops/ for leader election",
        "create /events ops/ for leader election",
        "patch /events ops/ for leader election"
      ]
    ))

  /** Whether RBAC, in the embedded server's authorizer, allows `wanted` as a request to a user with `held` as a rule. */
  const isAllowedBy = (held: Permission, wanted: Permission): boolean =>
    (held.namespace === "" || held.namespace === wanted.namespace) &&
    allows(
      {
        verbs: [held.verb],
        apiGroups: [held.group],
        resources: [held.subresource === "" ? held.resource : `${held.resource}/${held.subresource}`],
        resourceNames: held.name === "" ? [] : [held.name],
        nonResourceURLs: []
      },
      { ...wanted, path: "", isResource: true }
    )

  it.prop(
    "one covers another exactly when RBAC would let its holder do the other",
    { held: permission, wanted: concrete },
    ({ held, wanted }) => assert.strictEqual(covers(held, wanted), isAllowedBy(held, wanted)),
    { arbitrary: { runs: runs(500) } }
  )

  it.prop(
    "are minimal if each allows something that no other does, and together they allow the same",
    { permissions: Arbitrary.array(permission, { maxLength: 10 }) },
    ({ permissions }) => {
      const left = minimal(permissions)
      for (const one of permissions) assert.isTrue(left.some((other) => covers(other, one)))
      for (const one of left) assert.isFalse(left.some((other) => other !== one && covers(other, one)))
    },
    { arbitrary: { runs: runs(300) } }
  )
})

describe("a controller with an account of its own", () => {
  const holder: Holder = {
    who: "a",
    access: [Access.read(Pod), Access.patch(Node), Access.record],
    account: "a-controller"
  }
  const program = needed({ controllers: [holder], leases: [] }).map(short)

  it("leaves shared permissions to the program, which may create the account and its tokens", () =>
    assert.deepStrictEqual(
      [...new Set(program.map((line) => line.replace(/^(list|watch) \/pods/, "read /pods")))].filter(
        (line) => !line.includes("/events")
      ),
      [
        "read /pods / for a",
        "create /serviceaccounts kube-system/ for a",
        "create /serviceaccounts/token kube-system/a-controller for a"
      ]
    ))

  it("has the other permissions itself", () =>
    assert.deepStrictEqual(delegated(holder).map(short), ["patch /nodes / for a"]))

  it("adds nothing to the permissions of a program without accounts", () => {
    const both = [...needed({ controllers: [holder], leases: [] }), ...delegated(holder)].map(short)
    const alone = needed({ controllers: [{ ...holder, account: undefined }], leases: [] }).map(short)
    assert.sameMembers(
      [...new Set(both)].filter((line) => !line.includes("/serviceaccounts")),
      alone
    )
  })
})
