import { assert, it } from "@effect/vitest"
import { Resource } from "effect-controller-manager"
import * as Effect from "effect/Effect"
import { WidgetConversion } from "../src/WidgetConversion.ts"

const { convert, resource, spokes } = WidgetConversion

const versions = [resource, ...spokes]

/** As the API server has it: the version is that of the conversion. */
const into = (version: Resource.AnyCustom, object: Parameters<typeof convert>[0]) =>
  Effect.map(convert(object, Resource.apiVersion(version)), (converted) => ({
    ...converted,
    apiVersion: Resource.apiVersion(version)
  }))

for (const from of versions) {
  for (const to of versions.filter((one) => one !== from)) {
    it.effect.prop(
      `each Widget of ${from.version} is valid in ${to.version}, and loses nothing on the way there and back`,
      { object: Resource.arbitrary(from) },
      ({ object }) =>
        Effect.gen(function* () {
          const there = yield* into(to, object)
          assert.deepStrictEqual(yield* into(from, there), object)
        })
    )
  }
}
