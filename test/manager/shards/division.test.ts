/** When the cache of a replica is divided as the work is, and which permission it needs then. */
import { assert, describe, it } from "@effect/vitest"
import * as Access from "../../../src/kube/Access.ts"
import { Node, Pod, Secret } from "../../../src/kube/resources.ts"
import * as Permissions from "../../../src/manager/permissions.ts"
import * as Division from "../../../src/manager/shards/division.ts"

const settings = { sharding: true, shards: 16 }
const stays = { who: "stays", access: [Access.read(Pod)], staysInNamespace: true }
const roams = { who: "roams", access: [Access.read(Pod)] }
const writes = { who: "webhook writes", access: [Access.create(Secret), Access.read(Node)] }

describe("the cache of a replica", () => {
  it("has the namespaces of its shards alone if no reader needs others", () => {
    assert.strictEqual(Division.of(settings, [stays]).shards, 16)
    // Neither writes nor cluster-scoped kinds matter.
    assert.strictEqual(Division.of(settings, [stays, writes]).shards, 16)
  })

  it("has all namespaces if a reader needs others, and the log names it", () => {
    const { sentence, shards } = Division.of(settings, [stays, roams])
    assert.isUndefined(shards)
    assert.include(sentence, '"roams"')
    assert.notInclude(sentence, '"stays"')
  })

  it("has all namespaces without sharding", () => {
    assert.deepStrictEqual(Division.of({ ...settings, sharding: false }, [stays]), {
      shards: undefined,
      sentence: undefined
    })
  })

  it("needs to watch Namespaces if it is divided, unless they are a list", () => {
    const verbs = (more: Partial<Permissions.Wanted>) =>
      Permissions.needed({ controllers: [stays], leases: [], ...more }).flatMap(({ resource, verb }) =>
        resource === "namespaces" ? [verb] : []
      )
    assert.deepStrictEqual(verbs({}), [])
    assert.includeMembers(verbs({ isCacheDivided: true }), ["list", "watch"])
    assert.deepStrictEqual(verbs({ isCacheDivided: true, namespaces: ["shop"] }), [])
  })
})
