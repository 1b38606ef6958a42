import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Access from "../../../src/kube/Access.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Node, Pod, Secret } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import * as Predicate from "../../../src/streams/store/predicate.ts"
import * as Trigger from "../../../src/streams/store/trigger.ts"

const reconcile = () => Effect.void
const name = "web"
const referred = Controller.watchReferred(Secret, Pod, { index: { name: "secret", of: () => [] } })

/** The error of a declaration; undefined if it is valid. */
const refusal = (declare: () => unknown): string | undefined => {
  try {
    declare()
    return undefined
  } catch (error) {
    assert.instanceOf(error, Controller.InvalidController)
    return error instanceof Controller.InvalidController ? error.message : undefined
  }
}

describe("a declaration that cannot work fails when it is made", () => {
  const cases: ReadonlyArray<readonly [string, () => unknown, RegExp]> = [
    [
      "owns without for",
      // @ts-expect-error: the type is wrong too
      () => Controller.make({ name, owns: [Pod], sources: [Stream.empty], reconcile }),
      /^controller "web": `owns` leads .* declare `for`$/
    ],
    [
      "a predicate without for",
      () => Controller.make({ name, predicate: Predicate.generationChanged, sources: [Stream.empty], reconcile }),
      /`predicate` filters .* declare `for`$/
    ],
    [
      "nothing to do",
      // @ts-expect-error: the type is wrong too
      () => Controller.make({ name, for: Pod }),
      /declare `reconcile`, .* or `reconcileObject`/
    ],
    [
      "two reconciles",
      // @ts-expect-error: the type is wrong too
      () => Controller.make({ name, for: Pod, reconcile, reconcileObject: reconcile }),
      /two forms of one thing: declare one of them$/
    ],
    [
      "shards without for",
      () => Controller.make({ name, shardBy: "key", sources: [Stream.empty], reconcile }),
      /`shardBy` divides the objects of the `for` kind: declare `for`$/
    ],
    [
      "shards by namespace of a kind without namespaces",
      () => Controller.make({ name, for: Node, shardBy: "namespace", reconcile }),
      /cannot divide Node, which is cluster-scoped: use "key"$/
    ],
    [
      "shards of work that each replica does wholly",
      () => Controller.make({ name, for: Pod, shardBy: "key", needsLeader: false, reconcile }),
      /`needsLeader: false` .* declare one of them$/
    ],
    [
      "shards of what others wait for",
      () => Controller.make({ name, for: Pod, shardBy: "key", startFirst: true, reconcile }),
      /`startFirst` .* leave `shardBy` out$/
    ],
    [
      "objects of no kind",
      // @ts-expect-error: the type is wrong too
      () => Controller.make({ name, sources: [Stream.empty], reconcileObject: reconcile }),
      /objects of the `for` kind: declare `for`$/
    ],
    [
      "finalizers beside a reconcile of keys",
      // @ts-expect-error: the type is wrong too
      () => Controller.make({ name, for: Pod, finalizers: { "example.com/a": reconcile }, reconcile }),
      /call `finalize`$/
    ],
    ...["door", "example.com/", "/door", "Example.com/door", "example.com/a b"].map(
      (bad) =>
        [
          `the finalizer ${JSON.stringify(bad)}`,
          () => Controller.make({ name, for: Pod, finalizers: { [bad]: reconcile }, reconcileObject: reconcile }),
          /must have the form `example\.com\/what-for`$/
        ] as const
    ),
    ["no source at all", () => Controller.make({ name, reconcile }), /nothing would ever ask for a reconcile/],
    ["a kind that is every kind", () => Controller.make({ name, for: Resource.anything, reconcile }), /is no kind/],
    [
      "a watched kind without a plural",
      () =>
        Controller.make({
          name,
          for: ConfigMap,
          watches: [Controller.watch({ ...Secret, plural: "" }, Trigger.self)],
          reconcile
        }),
      /v1 Secret is no kind/
    ],
    [
      "a cluster-scoped kind that a namespaced one owns",
      () => Controller.make({ name, for: ConfigMap, owns: [Node], reconcile }),
      /cannot own Node, .* from ConfigMap, which is not: use `watches`/
    ],
    [
      "the same with options",
      () => Controller.make({ name, for: ConfigMap, owns: [Controller.owned(Node)], reconcile }),
      /cannot own Node/
    ],
    [
      "an index of a kind that it does not read",
      () => Controller.make({ name, for: ConfigMap, watches: [referred], reconcile }),
      /declare `Access\.read\(Pod\)`$/
    ],
    ...["", "Web", "-web", "web,db", "web db", "*"].map(
      (bad) =>
        [
          `the name ${JSON.stringify(bad)}`,
          () => Controller.make({ name: bad, for: Pod, reconcile }),
          /lower case/
        ] as const
    ),
    ...[0, -1, 1.5, Number.NaN].map(
      (concurrency) =>
        [
          `${concurrency} keys at once`,
          () => Controller.make({ name, for: Pod, concurrency, reconcile }),
          /whole number of at least 1/
        ] as const
    ),
    [
      "the name of one with state",
      () => Controller.stateful({ name: "Web", access: [], body: () => Effect.succeed({ sources: [], reconcile }) }),
      /lower case/
    ],
    [
      "the name of one on a schedule",
      () => Controller.scheduled({ name: "Web", access: [], schedule: Schedule.forever, run: () => Effect.void }),
      /lower case/
    ]
  ]
  for (const [title, declare, message] of cases) {
    it(`refuses ${title}`, () => assert.match(refusal(declare) ?? "it was accepted", message))
  }

  it("every valid declaration is accepted", () => {
    const declarations = [
      () => Controller.make({ name, for: Pod, reconcile }),
      () => Controller.make({ name, for: Pod, watches: [referred], reconcile }),
      () => Controller.make({ name, for: ConfigMap, access: [Access.read(Pod)], watches: [referred], reconcile }),
      () => Controller.make({ name, sources: [Stream.empty], reconcile }),
      () => Controller.make({ name, watches: [Controller.watch(Secret, Trigger.self)], reconcile }),
      () => Controller.make({ name, for: Node, owns: [Node, Pod], reconcile }),
      () => Controller.make({ name, for: Node, owns: [Controller.owned(Pod)], reconcileObject: reconcile }),
      () => Controller.make({ name, for: Pod, finalizers: { "a.b/c": reconcile }, reconcileObject: reconcile }),
      () => Controller.make({ name, for: Resource.metadataOnly(Pod), concurrency: 3, reconcile })
    ]
    assert.deepStrictEqual(
      declarations.map(refusal),
      Array.from(declarations, () => undefined)
    )
  })

  it("a controller may read every kind that it names, and none without `for`", () => {
    const without = Controller.make({ name, watches: [referred], access: [Access.read(Pod)], reconcile })
    assert.deepStrictEqual(
      without.reads.map(({ id }) => id),
      ["v1/secrets", "v1/pods"]
    )
    assert.notProperty(without, "for")
  })
})
