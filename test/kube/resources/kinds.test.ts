/** The built-in descriptors are exactly the kinds of Kubernetes 1.36, with its names and scopes; those that a program does not use are not in its bundle. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { rolldown } from "rolldown"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import * as resources from "../../../src/kube/resources.ts"
import { facts } from "../../support/kubernetesKinds.ts"
import * as Process from "../../support/process.ts"

/** Without a descriptor. */
const omitted = new Map([
  ["autoscaling/v1 HorizontalPodAutoscaler", "the version before the newest stable one, autoscaling/v2"],
  ["v1 Binding", "the response is a Status; the subresource `binding` of pods replaces it"]
])

const described = Object.entries(resources as Readonly<Record<string, Resource.AnyCreatable>>)

const textOf = (resource: Resource.AnyCreatable): string =>
  [
    Resource.apiVersion(resource),
    resource.kind,
    resource.plural,
    resource.scope === "Cluster" ? "cluster" : "namespaced",
    resource.projection === "none" ? "create" : ""
  ].join(" ")

describe("built-in kinds", () => {
  it("have a descriptor for each kind that Kubernetes 1.36 serves in a stable version, and no others", () => {
    const wanted = facts
      .filter(({ apiVersion, kind }) => !omitted.has(`${apiVersion} ${kind}`))
      .map(({ apiVersion, kind, plural, scope, verbs }) =>
        [apiVersion, kind, plural, scope, verbs === "create" ? verbs : ""].join(" ")
      )
    assert.strictEqual(facts.length, wanted.length + omitted.size)
    assert.deepStrictEqual(described.map(([, resource]) => textOf(resource)).toSorted(), wanted.toSorted())
  })

  it("are exported under their kind, except the Event of events.k8s.io", () => {
    const other = described.filter(([name, { kind }]) => name !== kind).map(([name]) => name)
    assert.deepStrictEqual(other, ["EventsEvent"])
  })

  it("that are only created have no grant but create", () => {
    const review = resources.SubjectAccessReview
    assert.deepStrictEqual(Access.reads([Access.create(review), Access.read(resources.Role)]), [resources.Role])
    // @ts-expect-error -- there is nothing to read
    Access.read(review)
    // @ts-expect-error -- there is nothing to change
    Access.patch(review)
    // @ts-expect-error -- there is nothing to delete
    Access.remove(review)
  })

  it.live("that a program does not use are left out of its bundle", () =>
    Effect.gen(function* () {
      const used = yield* bundle("export { Pod } from RESOURCES")
      assert.include(used, `plural: "pods"`)
      const others = described.filter(([name, { plural }]) => name !== "Pod" && used.includes(`"${plural}"`))
      assert.deepStrictEqual(
        others.map(([name]) => name),
        []
      )
      // The same search finds them where they are used.
      const all = yield* bundle("export * from RESOURCES")
      assert.deepStrictEqual(
        described.filter(([, { plural }]) => !all.includes(`"${plural}"`)).map(([name]) => name),
        []
      )
    }).pipe(Effect.scoped)
  )
})

/** The bundle of a module in which RESOURCES is the path of the descriptors; the modules below are bundled from their sources. */
const bundle = Effect.fnUntraced(function* (text: string) {
  const folder = yield* Process.folder
  const input = join(folder, "consumer.ts")
  const path = join(import.meta.dirname, "../../../src/kube/resources.ts")
  writeFileSync(input, text.replace("RESOURCES", JSON.stringify(path)))
  return yield* Effect.promise(async () => {
    const made = await rolldown({ input, platform: "node", external: [/^effect\//], logLevel: "silent" })
    const { output } = await made.generate({ format: "esm" })
    await made.close()
    return output.map((file) => (file.type === "chunk" ? file.code : "")).join("\n")
  })
})
