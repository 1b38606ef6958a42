/** What is asked for is what the descriptors declare: no more, no less, each once. */
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, Node, Pod } from "../../../src/kube/resources.ts"
import { type Holder, kinds, needed, type Permission } from "../../../src/layers/manager/permissions.ts"

const short = ({ group, name, namespace, needed, resource, subresource, verb }: Permission) =>
  `${verb} ${group}/${resource}${subresource === "" ? "" : `/${subresource}`} ${namespace}/${name} for ${needed.join()}`

describe("permissions", () => {
  it("are the verbs behind the grants, with events for whoever runs", () =>
    assert.deepStrictEqual(
      needed({
        controllers: [
          { who: "a", access: [Access.read(Pod), Access.patch(Node, "status")] },
          { who: "b", access: [Access.live(Pod), Access.remove(Resource.anything)] }
        ],
        leases: []
      }).map(short),
      [
        "get /pods / for a,b",
        "list /pods / for a,b",
        "watch /pods / for a",
        "patch /nodes/status / for a",
        "delete */* / for b",
        "create /events / for events",
        "patch /events / for events"
      ]
    ))

  it("of a lease are for that one, except to create it, which cannot be", () =>
    assert.deepStrictEqual(
      needed({ controllers: [], leases: [{ namespace: "kube-system", name: "kcm" }] }).map(short),
      ["get", "watch", "update", "create"].map(
        (verb) => `${verb} coordination.k8s.io/leases kube-system/${verb === "create" ? "" : "kcm"} for leader election`
      )
    ))

  it("kinds are those that are named, each once, whatever is read of them", () =>
    assert.deepStrictEqual(
      kinds([
        { who: "a", access: [Access.read(Pod), Access.patch(Pod), Access.read(Resource.metadataOnly(Deployment))] },
        { who: "b", access: [Access.read(Deployment), Access.live(Resource.anything)] }
      ]).map(({ needed, resource }) => `${Resource.qualifiedName(resource)} for ${needed.join()}`),
      ["pods for a", "deployments.apps for a,b"]
    ))

  const grants: ReadonlyArray<(resource: Resource.Any) => Access.Any> = [
    Access.read,
    Access.live,
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
    "each verb of each declaration is asked for exactly once, and names whom it is for",
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
        needed.filter((who) => who !== "events").map((who) => `${who}: ${verb} ${group}/${resource}`)
      )
      assert.sameMembers(told, [...declared])
    }
  )
})
