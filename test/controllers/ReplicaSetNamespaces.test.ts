/**
 * The loop where namespaces come and go: those with the label are its own. It must never take a namespace of which it sees a part for
 * one in which there are no pods, neither when it comes, whichever kind is slow, nor when it goes.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Namespace, Pod } from "../../src/kube/resources.ts"
import * as Harness from "./shared/workload/harness.ts"

const options = { cache: { namespaces: { labels: [{ key: "ours", operator: "Exists", values: [] }] } } } as const

const kindName = ({ resource }: Harness.Kind) =>
  resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`

const own = (isOurs: boolean) =>
  Harness.patch(Namespace, "default", { metadata: { labels: { ours: isOurs ? "" : null } } })

const creates = (calls: ReadonlyArray<Parameters<typeof Harness.line>[0]>) =>
  calls.map(Harness.line).filter((line) => line === "create pods").length

for (const kind of Harness.kinds) {
  describe(`${kind.name}: namespaces that are selected and no longer selected`, () => {
    for (const slow of ["pods", kindName(kind)]) {
      it.effect(`a newly selected namespace keeps its pods, however late the list of its ${slow} arrives`, () =>
        Harness.withLoop(
          kind,
          Effect.gen(function* () {
            yield* Harness.apply({
              apiVersion: "v1",
              kind: "Namespace",
              metadata: { name: "default", labels: { ours: "" } }
            })
            yield* Harness.apply(Harness.owner(kind))
            const before = yield* Harness.podNames
            assert.strictEqual(before.length, 3)
            yield* own(false)
            yield* Harness.settle
            yield* Harness.remove(Pod, before[0] ?? "")
            yield* Harness.settle
            assert.strictEqual((yield* Harness.podNames).length, 2, "an unselected namespace gets no pods")
            const calls = yield* Harness.recording([
              {
                match: (request) => request.context.resource === slow && request.path.includes("/namespaces/default/"),
                fault: { _tag: "Delay", millis: 30_000 },
                times: 1
              }
            ])
            yield* own(true)
            yield* Harness.advance("29 seconds")
            assert.strictEqual(creates(calls), 0, "half a picture")
            yield* Harness.advance("2 seconds")
            assert.deepStrictEqual([creates(calls), (yield* Harness.pods).length], [1, 3])
          }),
          options
        )
      )
    }

    it.effect("a namespace that is no longer selected is ignored, while others are reconciled", () =>
      Harness.withLoop(
        kind,
        Effect.gen(function* () {
          yield* own(true)
          yield* Harness.apply(Harness.owner(kind))
          assert.strictEqual((yield* Harness.pods).length, 3)
          const calls = yield* Harness.recording()
          yield* own(false)
          yield* Harness.settle
          yield* Harness.scale(kind, 7)
          yield* Harness.settle
          yield* Harness.advance("10 minutes")
          const writes = calls.filter(({ method }) => method !== "GET").map(Harness.line)
          // The test itself makes the other writes.
          assert.deepStrictEqual(
            writes.filter((line) => !line.startsWith("patch namespaces") && line !== `patch ${kindName(kind)} web`),
            []
          )
          yield* own(true)
          yield* Harness.advance("1 second")
          assert.strictEqual((yield* Harness.pods).length, 7)
        }),
        options
      )
    )
  })
}
