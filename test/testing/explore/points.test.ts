/** Which points of a run are perturbed. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../../../src/kube/Access.ts"
import { Namespace } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"

it.live("a point is perturbed only while the cluster has time to converge after it", () =>
  Effect.gen(function* () {
    const poller = Controller.scheduled({
      name: "poller",
      access: [Access.get(Namespace)],
      schedule: Schedule.spaced("1 minute"),
      run: ({ client }) => Effect.ignore(client.get(Namespace, { name: "default" }))
    })
    const kinds = { throttled: "not needed", timeout: "not needed" }
    const exploration = explore("poller", {
      controllers: [poller],
      scenario: () => Effect.void,
      within: "150 seconds",
      without: kinds
    })
    const { coverage, undisturbed } = yield* exploration.run()
    // At 0, 1 and 2 minutes; those at 3, 4 and 5 are after it.
    assert.strictEqual(undisturbed.calls, 6)
    assert.deepStrictEqual(coverage, [{ kind: "error", points: 3, tried: 3 }])
    // The three alone, three pairs of them, and all three.
    assert.strictEqual((yield* exploration.run({ combinations: 40 })).distinct, 7)
  })
)
