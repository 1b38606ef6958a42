import { assert, it } from "@effect/vitest"
import { compareVersions } from "../../../src/apiserver/discovery.ts"

/** The example of the API's documentation of versions. */
const preferred = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]

it("compareVersions orders stable before beta before alpha, higher numbers first", () => {
  for (let context = 0; context < preferred.length; context++) {
    const turned = [...preferred.slice(context), ...preferred.slice(0, context)]
    assert.deepStrictEqual(turned.sort(compareVersions), preferred)
    assert.deepStrictEqual(turned.toReversed().sort(compareVersions), preferred)
  }
})
