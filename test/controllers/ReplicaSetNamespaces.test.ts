/**
 * The loop where namespaces come and go: those with the label are its own. It must never take a namespace of which it sees a part for
 * one in which there are no pods, neither when it comes, whichever kind is slow, nor when it goes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Namespace, Pod } from "../../src/kube/resources.ts"
import * as Stand from "./shared/workload/harness.ts"

const options = { cache: { namespaces: { labels: [{ key: "ours", operator: "Exists", values: [] }] } } } as const

const kindName = ({ resource }: Stand.Kind) =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`

const own = (isOurs: boolean) =>
  Stand.patch(Namespace, "default", { metadata: { labels: { ours: isOurs ? "" : null } } })

const creates = (calls: ReadonlyArray<Parameters<typeof Stand.line>[0]>) =>
  calls.map(Stand.line).filter((line) => line === "create pods").length

for (const kind of Stand.kinds) {
  describe(`${kind.name}: namespaces that come and go`, () => {
    for (const slow of ["pods", kindName(kind)]) {
      it.effect(`a namespace that comes keeps the pods it has, however late its ${slow} are read`, () =>
        Stand.world(
          kind,
          Effect.gen(function* () {
            yield* Stand.apply({
              apiVersion: "v1",
              kind: "Namespace",
              metadata: { name: "default", labels: { ours: "" } }
            })
            yield* Stand.apply(Stand.owner(kind))
            const before = yield* Stand.podNames
            assert.strictEqual(before.length, 3)
            yield* own(false)
            yield* Stand.settle
            yield* Stand.remove(Pod, before[0] ?? "")
            yield* Stand.settle
            assert.strictEqual((yield* Stand.podNames).length, 2, "not ours: nobody makes another")
            const calls = yield* Stand.recording([
              {
                match: (request) => request.context.resource === slow && request.path.includes("/namespaces/default/"),
                fault: { _tag: "Delay", millis: 30_000 },
                times: 1
              }
            ])
            yield* own(true)
            yield* Stand.advance("29 seconds")
            assert.strictEqual(creates(calls), 0, "half a picture")
            yield* Stand.advance("2 seconds")
            assert.deepStrictEqual([creates(calls), (yield* Stand.pods).length], [1, 3])
          }),
          options
        )
      )
    }

    it.effect("a namespace that goes is left alone, whatever happens in it, while others are worked on", () =>
      Stand.world(
        kind,
        Effect.gen(function* () {
          yield* own(true)
          yield* Stand.apply(Stand.owner(kind))
          assert.strictEqual((yield* Stand.pods).length, 3)
          const calls = yield* Stand.recording()
          yield* own(false)
          yield* Stand.settle
          yield* Stand.scale(kind, 7)
          yield* Stand.settle
          yield* Stand.advance("10 minutes")
          const writes = calls.filter(({ method }) => method !== "GET").map(Stand.line)
          // Those of the test itself.
          assert.deepStrictEqual(
            writes.filter((line) => !line.startsWith("patch namespaces") && line !== `patch ${kindName(kind)} web`),
            []
          )
          yield* own(true)
          yield* Stand.advance("1 second")
          assert.strictEqual((yield* Stand.pods).length, 7)
        }),
        options
      )
    )
  })
}
