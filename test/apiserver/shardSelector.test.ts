/** shardSelector of lists, watches and deletions of a collection (KEP-5866). */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as client from "./client.ts"
import { configMap, get, layer, names, patch, pod, post, put, refused, remove, same, settle, watch } from "./client.ts"
import * as memcached from "./apiextensions/memcached.ts"

type Field = "namespace" | "uid"

/** The definition of the hash, in whole numbers of any size. */
const hashOf = (text: string): bigint => {
  let hash = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  return hash
}

interface Range {
  readonly start: bigint
  readonly end: bigint
}

const hex = (bound: bigint): string => `0x${bound.toString(16).padStart(16, "0")}`

const selector = (field: Field, ranges: ReadonlyArray<Range>): string =>
  ranges.map(({ start, end }) => `shardRange(object.metadata.${field}, '${hex(start)}', '${hex(end)}')`).join(" || ")

const isIn = (field: Field, ranges: ReadonlyArray<Range>, { metadata }: any): boolean => {
  const hash = hashOf(metadata[field] ?? "")
  return ranges.some(({ start, end }) => start <= hash && hash < end)
}

const top = 2n ** 64n

/** The range of one hash, and the two ranges of all others. */
const only = (text: string): ReadonlyArray<Range> => [{ start: hashOf(text), end: hashOf(text) + 1n }]
const but = (text: string): ReadonlyArray<Range> => [
  { start: 0n, end: hashOf(text) },
  { start: hashOf(text) + 1n, end: top }
]

const everywhere = "/api/v1/configmaps"
const inNamespace = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`
const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"] as const

const Step = Schema.Struct({
  namespace: Schema.Literals(namespaces),
  name: Schema.Literals(["x", "y", "z"]),
  gone: Schema.Boolean
})
const Script = Arbitrary.schema(Schema.Array(Step).check(Schema.isMinLength(1), Schema.isMaxLength(20)))
const Half = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))
/** Where the space of hashes is cut, and the share that the part below has. */
const Cut = Schema.Struct({ high: Half, low: Half, share: Schema.Literals([0, 1, 2]) })
const Cuts = Arbitrary.schema(Schema.Array(Cut).check(Schema.isMaxLength(6)))

/** Three shares, some of several ranges, which together have every hash once. A cut may also be the hash of a namespace. */
const sharesOf = (cuts: ReadonlyArray<typeof Cut.Type>): ReadonlyArray<ReadonlyArray<Range>> => {
  const bounds = cuts
    .map(({ high, low, share }) => ({ end: (BigInt(high) << 32n) | BigInt(low), share }))
    .concat({ end: hashOf("kube-system"), share: 1 }, { end: hashOf("default"), share: 2 }, { end: top, share: 0 })
    .toSorted((a, b) => (a.end < b.end ? -1 : 1))
  const shares: ReadonlyArray<Array<Range>> = [[], [], []]
  let start = 0n
  for (const { end, share } of bounds) {
    if (start < end) shares[share]?.push({ start, end })
    start = end
  }
  return shares.filter((ranges) => ranges.length > 0)
}

const write = ({ gone, name, namespace }: typeof Step.Type) =>
  Effect.gen(function* () {
    const path = inNamespace(namespace)
    const exists = names(yield* get(path)).includes(name)
    if (gone) return exists ? yield* remove(`${path}/${name}`) : undefined
    return exists ? yield* patch(`${path}/${name}`, "merge", { data: { n: "1" } }) : yield* post(path, configMap(name))
  })

const essence = (events: ReadonlyArray<any>) =>
  events.map(({ object, type }) => [type, object.metadata.uid, object.metadata.resourceVersion])

describe("shares of the space of hashes", () => {
  it.effect.prop(
    "together list every object once, and watches deliver exactly the events of their share",
    { script: Script, cuts: Cuts, field: Schema.Literals(["namespace", "uid"]) },
    ({ cuts, field, script }) =>
      Effect.gen(function* () {
        const shares = sharesOf(cuts)
        const whole = yield* watch(everywhere)
        const own = yield* Effect.forEach(shares, (ranges) =>
          watch(everywhere, { shardSelector: selector(field, ranges) })
        )
        for (const step of script) yield* write(step)
        yield* settle
        const { items, metadata } = yield* get(everywhere)
        const listed: Array<any> = []
        for (const [index, ranges] of shares.entries()) {
          const list = yield* get(everywhere, { shardSelector: selector(field, ranges) })
          same(
            list.items,
            items.filter((item: any) => isIn(field, ranges, item))
          )
          same(list.metadata.resourceVersion, metadata.resourceVersion)
          listed.push(...list.items)
          const mine = whole.events.filter(({ object }) => isIn(field, ranges, object))
          same(essence(own[index]?.events ?? []), essence(mine))
        }
        const uids = (list: ReadonlyArray<any>) => list.map((item): string => item.metadata.uid).toSorted()
        same(uids(listed), uids(items))
      }).pipe(Effect.scoped, Effect.provide(layer())),
    { arbitrary: { runs: 30 } }
  )
})

const pods = "/api/v1/pods"
const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`

describe("a list by shardSelector", () => {
  it.effect("has the selector as the server understands it, in every representation", () =>
    Effect.gen(function* () {
      yield* post(podsOf("default"), pod("a"))
      yield* post(podsOf("kube-system"), pod("b"))
      const canonical = selector("namespace", only("default"))
      const shardSelector = ` (${canonical.replaceAll(" ", "").replaceAll("'", '"')})`
      const list = yield* get(pods, { shardSelector })
      same(names(list), ["a"])
      same(Object.keys(list.metadata), ["resourceVersion", "shardInfo"])
      same(list.metadata.shardInfo, { selector: canonical })
      const as = (form: string) => `application/json;as=${form};g=meta.k8s.io;v=v1`
      const partial = yield* get(pods, { shardSelector }, as("PartialObjectMetadataList"))
      same([names(partial), partial.metadata.shardInfo], [["a"], { selector: canonical }])
      const table = yield* get(pods, { shardSelector }, as("Table"))
      same(
        [table.rows.map((row: any) => row.object.metadata.name), table.metadata.shardInfo],
        [["a"], { selector: canonical }]
      )
      same((yield* get(pods)).metadata.shardInfo, undefined)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is read in pages, without a count of what remains", () =>
    Effect.gen(function* () {
      for (const name of ["a", "b", "c", "d"]) yield* post(inNamespace("default"), configMap(name))
      yield* post(inNamespace("kube-public"), configMap("other"))
      const query = { shardSelector: selector("namespace", only("default")), limit: 2 }
      const first = yield* get(everywhere, query)
      same([names(first), first.metadata.remainingItemCount], [["a", "b"], undefined])
      yield* remove(`${inNamespace("default")}/c`)
      const second = yield* get(everywhere, { ...query, continue: first.metadata.continue })
      same([names(second), second.metadata.continue], [["c", "d"], undefined])
      same(second.metadata.shardInfo, first.metadata.shardInfo)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("also has to match the labels and fields", () =>
    Effect.gen(function* () {
      for (const namespace of ["default", "kube-system"]) {
        yield* post(podsOf(namespace), pod("a", { labels: { app: "web" } }))
        yield* post(podsOf(namespace), pod("b"))
      }
      const shardSelector = selector("namespace", but("default"))
      const keys = (query: object) =>
        Effect.map(get(pods, { shardSelector, ...query }), ({ items }) =>
          items.map(({ metadata }: any) => `${metadata.namespace}/${metadata.name}`)
        )
      same(yield* keys({ labelSelector: "app=web" }), ["kube-system/a"])
      same(yield* keys({ fieldSelector: "metadata.name=b" }), ["kube-system/b"])
      same(yield* keys({ labelSelector: "app=web", fieldSelector: "metadata.namespace=default" }), [])
      same(names(yield* get(podsOf("default"), { shardSelector })), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("of objects without a namespace has the share of the empty text", () =>
    Effect.gen(function* () {
      same(names(yield* get("/api/v1/namespaces", { shardSelector: selector("namespace", but("")) })), [])
      const list = yield* get("/api/v1/namespaces", { shardSelector: selector("namespace", only("")) })
      same(names(list), [...namespaces].toSorted())
    }).pipe(Effect.provide(layer()))
  )

  it.effect("selects custom resources", () =>
    Effect.gen(function* () {
      yield* post(memcached.definitions, memcached.definition())
      const { metadata } = yield* post(memcached.memcacheds, memcached.memcached("a"))
      yield* post(memcached.memcacheds, memcached.memcached("b"))
      const list = yield* get(memcached.memcacheds, { shardSelector: selector("uid", only(metadata.uid)) })
      same([names(list), list.metadata.shardInfo], [["a"], { selector: selector("uid", only(metadata.uid)) }])
      same(names(yield* get(memcached.memcacheds, { shardSelector: selector("uid", but(metadata.uid)) })), ["b"])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("selects APIServices", () =>
    Effect.gen(function* () {
      const services = "/apis/apiregistration.k8s.io/v1/apiservices"
      const shardSelector = selector("namespace", but(""))
      const list = yield* get(services, { shardSelector })
      same([names(list), list.metadata.shardInfo], [[], { selector: shardSelector }])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("is of all objects if the parameter is empty, and a single object is read whatever its share", () =>
    Effect.gen(function* () {
      yield* post(inNamespace("default"), configMap("a"))
      const list = yield* get(everywhere, { shardSelector: "" })
      same([names(list), list.metadata.shardInfo], [["a"], undefined])
      const one = yield* get(`${inNamespace("default")}/a`, { shardSelector: selector("namespace", but("default")) })
      same(one.metadata.name, "a")
    }).pipe(Effect.provide(layer()))
  )
})

describe("a watch by shardSelector", () => {
  it.effect("delivers ADDED and DELETED for objects of its share that start and stop matching", () =>
    Effect.gen(function* () {
      const query = (ranges: ReadonlyArray<Range>) => ({
        labelSelector: "app=web",
        shardSelector: selector("namespace", ranges)
      })
      const own = yield* watch(pods, query(only("default")))
      const others = yield* watch(pods, query(but("default")))
      yield* post(podsOf("default"), pod("a"))
      for (const app of ["web", "db"]) {
        yield* patch(`${podsOf("default")}/a`, "merge", { metadata: { labels: { app } } })
      }
      yield* settle
      same([own.seen(), others.seen()], [["ADDED a", "DELETED a"], []])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("delivers the objects of its share first, and the bookmark after them, with sendInitialEvents", () =>
    Effect.gen(function* () {
      yield* post(inNamespace("default"), configMap("a"))
      yield* post(inNamespace("kube-system"), configMap("b"))
      const seen = yield* watch(everywhere, {
        shardSelector: selector("namespace", only("kube-system")),
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true
      })
      yield* put(`${inNamespace("default")}/a`, configMap("a", { k: "1" }))
      yield* put(`${inNamespace("kube-system")}/b`, configMap("b", { k: "1" }))
      yield* settle
      same(
        seen.events.map(({ type }) => type),
        ["ADDED", "BOOKMARK", "MODIFIED"]
      )
      same((seen.events[1]?.object as any).metadata.resourceVersion, client.nth(2))
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )
})

describe("a shardSelector", () => {
  it.effect("that is malformed gets a 400, from lists, watches and deletions", () =>
    Effect.gen(function* () {
      yield* post(inNamespace("default"), configMap("a"))
      const query = { shardSelector: "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')" }
      const refusal = {
        status: 400,
        message:
          'invalid shard selector: hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)'
      }
      for (const read of [get(everywhere, query), remove(inNamespace("default"), undefined, query)]) {
        const { message, status } = yield* refused(read)
        same({ status, message }, refusal)
      }
      const done = yield* (yield* watch(everywhere, query)).done
      assert.include(Exit.isFailure(done) ? String(done.cause) : "", refusal.message)
      same(names(yield* get(everywhere)), ["a"])
    }).pipe(Effect.scoped, Effect.provide(layer()))
  )

  it.effect("limits what deletecollection removes", () =>
    Effect.gen(function* () {
      const a = yield* post(inNamespace("default"), configMap("a"))
      yield* post(inNamespace("default"), configMap("b"))
      const query = { shardSelector: selector("uid", only(a.metadata.uid)) }
      const removed = yield* remove(inNamespace("default"), undefined, query)
      same([names(removed), removed.metadata.shardInfo], [["a"], { selector: query.shardSelector }])
      same(names(yield* get(everywhere)), ["b"])
    }).pipe(Effect.provide(layer()))
  )
})
