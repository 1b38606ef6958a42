import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Equality from "../../src/kube/equality.ts"
import * as Hash from "../../src/kube/hash.ts"
import { checkProperty, int, oneOf } from "../support/property.ts"

/** The facts of a template; templates that differ in one are different. */
const facts = {
  image: oneOf("web:1", "web:2"),
  cpuMillis: oneOf(100, 1000, 2500),
  label: oneOf("a", "", "none"),
  user: oneOf(-1, 0, 1000),
  volume: oneOf("emptyDir", "downwardAPI"),
  peers: oneOf("none", "all", "own"),
  arg: oneOf("", "x"),
  quota: oneOf("none", "0", "1Gi")
}

type Facts = { readonly [K in keyof typeof facts]: (typeof facts)[K] extends Arbitrary.Arbitrary<infer A> ? A : never }

/** Ways to write a thousandth of a CPU, an empty map, and an absent value. */
const amounts = (millis: number): ReadonlyArray<unknown> =>
  millis % 1000 === 0
    ? [`${millis / 1000}`, millis / 1000, `${millis}m`, `${millis}e-3`]
    : [`${millis}m`, `${millis / 1000}`]
const zero = ["0", 0, "0Mi", "0.0"]
const noDivisor = [undefined, null, "0", 0]
const gib = ["1Gi", "1024Mi", "1073741824", 1_073_741_824]
const nothing = [undefined, null]
const noMap = [undefined, null, {}]
const noList = [undefined, null, []]
const noText = [undefined, null, ""]
const noFlag = [undefined, null, false]
const noNumber = [undefined, null, 0]

/** The same template in one of many spellings, which the digits of `style` select. */
const spelling = (given: Facts, style: number): object => {
  let left = style
  const pick = <A>(ways: ReadonlyArray<A>): A | undefined => {
    const at = left % ways.length
    left = Math.floor(left / ways.length)
    return ways[at]
  }
  const peers = { none: {}, all: { namespaceSelector: {} }, own: { namespaceSelector: pick(nothing) } }
  const term = { topologyKey: "zone", labelSelector: { matchLabels: { app: "web" } }, ...peers[given.peers] }
  const container = {
    name: "main",
    image: given.image,
    args: [given.arg],
    command: pick(noList),
    env: [
      { name: "A", value: pick(noText) },
      { name: "B", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: pick(noDivisor) } } }
    ],
    tty: pick(noFlag),
    ports: [{ containerPort: 80, hostPort: pick(noNumber) }],
    resources: { limits: { cpu: pick(amounts(given.cpuMillis)) }, requests: pick(noMap) },
    securityContext: { runAsNonRoot: false, ...(given.user < 0 ? {} : { runAsUser: given.user }) }
  }
  const sizes = { none: {}, "0": { sizeLimit: pick(zero) }, "1Gi": { sizeLimit: pick(gib) } }
  const template = {
    metadata: {
      labels: given.label === "none" ? { x: "" } : { app: given.label, x: "" },
      annotations: pick(noMap),
      creationTimestamp: pick(nothing)
    },
    spec: {
      containers: [container, { name: "side", resources: pick(noMap) }],
      hostNetwork: pick(noFlag),
      nodeSelector: pick(noMap),
      tolerations: pick(noList),
      volumes: [{ name: "v", [given.volume]: sizes[given.quota] }],
      affinity: given.peers === "none" ? { podAffinity: {} } : { podAffinity: { required: [term] } }
    }
  }
  return left % 2 === 0 ? template : backwards(template)
}

/** The same object with the members in the opposite order. */
const backwards = <A>(value: A): A => {
  if (Array.isArray(value)) return value.map(backwards) as A
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, backwards(member)])
  ) as A
}

const spellings = Arbitrary.all({ a: Arbitrary.all(facts), x: int(0, 2 ** 26), y: int(0, 2 ** 26) })

/** Two templates that differ in one fact at most. */
const neighbours = Arbitrary.all({
  a: Arbitrary.all(facts),
  b: Arbitrary.all(facts),
  x: int(0, 2 ** 26),
  y: int(0, 2 ** 26),
  fact: oneOf("image", "cpuMillis", "label", "user", "volume", "peers", "arg", "quota")
}).pipe(Arbitrary.map(({ a, b, fact, x, y }) => ({ a, b: { ...a, [fact]: b[fact] }, x, y })))

/** Small values of any shape, in fields that the tables name and in others. */
const leaf = Arbitrary.schema(Schema.NullOr(Schema.Literals(["", "a", 0, 1, "1", "1000m", false, true])))
const field = oneOf("labels", "limits", "metadata", "resources", "emptyDir", "divisor", "tty", "storageClassName", "x")
const grow = (inner: Arbitrary.Arbitrary<unknown>): Arbitrary.Arbitrary<unknown> =>
  Arbitrary.all({
    kind: oneOf("leaf", "list", "object"),
    leaf,
    list: Arbitrary.array(inner, { maxLength: 2 }),
    field,
    inner
  }).pipe(
    Arbitrary.map(({ field, inner, kind, leaf, list }) =>
      kind === "leaf" ? leaf : kind === "list" ? list : { [field]: inner }
    )
  )
const json = grow(grow(grow(leaf)))

/** The template, and the same without some members and items, which a number selects. */
const reduced = Arbitrary.map(
  Arbitrary.all({ a: Arbitrary.all(facts), x: int(0, 2 ** 26), left: int(1, 2 ** 26) }),
  (one) => {
    const whole = spelling(one.a, one.x)
    let { left } = one
    const isOut = (): boolean => {
      left = (left * 48_271) % 2_147_483_647
      return left % 4 === 0
    }
    const thin = (value: unknown): unknown => {
      if (Array.isArray(value)) return keepSome(value.map(thin))
      if (typeof value !== "object" || value === null) return value
      return Object.fromEntries(
        Object.entries(value).flatMap(([key, member]) => (isOut() ? [] : [[key, isOut() ? null : thin(member)]]))
      )
    }
    const keepSome = (items: ReadonlyArray<unknown>) =>
      items.every((item) => typeof item === "object") ? items.filter((_, i) => i === 0 || !isOut()) : items
    return { whole, part: thin(whole) }
  }
)

const sameFacts = (a: Facts, b: Facts): boolean => JSON.stringify(a) === JSON.stringify(b)

describe("Equality", () => {
  checkProperty("two spellings of a template are equal", spellings, ({ a, x, y }) =>
    Equality.equal(spelling(a, x), spelling(a, y))
  )

  checkProperty(
    "two templates are equal only if no fact differs",
    neighbours,
    ({ a, b, x, y }) => Equality.equal(spelling(a, x), spelling(b, y)) === sameFacts(a, b)
  )

  checkProperty("templates are equal exactly if their canonical texts are", neighbours, ({ a, b, x, y }) =>
    [a, b].every((other) => {
      const [one, two] = [spelling(a, x), spelling(other, y)]
      return (
        Equality.equal(one, two) === (Equality.canonical(one) === Equality.canonical(two)) &&
        Equality.equal(one, two) === Equality.equal(two, one)
      )
    })
  )

  checkProperty(
    "any two values are equal exactly if their canonical texts are",
    Arbitrary.all({ a: json, b: json }),
    ({ a, b }) =>
      [
        [a, b],
        [a, a],
        [b, structuredClone(b)]
      ].every(([one, two]) => Equality.equal(one, two) === (Equality.canonical(one) === Equality.canonical(two)))
  )

  checkProperty("a template covers what is left of it without some members", reduced, ({ part, whole }) =>
    Equality.covers(whole, part)
  )

  checkProperty("two templates that cover each other are equal", neighbours, ({ a, b, x, y }) => {
    const [one, two] = [spelling(a, x), spelling(b, y)]
    return (Equality.covers(one, two) && Equality.covers(two, one)) === Equality.equal(one, two)
  })

  checkProperty(
    "equal values cover each other, whatever they are",
    Arbitrary.all({ a: json, b: json }),
    ({ a, b }) =>
      Equality.covers(a, structuredClone(a)) &&
      (!Equality.equal(a, b) || (Equality.covers(a, b) && Equality.covers(b, a)))
  )
})

describe("equality", () => {
  it("compares times by instant, and only times", () => {
    const at = (text: string) => ({ metadata: { creationTimestamp: text, annotations: { startTime: text } } })
    const zulu = "2026-01-31T12:00:00Z"
    const local = "2026-01-31T13:00:00+01:00"
    assert.isTrue(Equality.equal({ startTime: zulu }, { startTime: local }))
    assert.isFalse(Equality.equal(at(zulu), at(local)))
    assert.isTrue(Equality.equal({ startTime: "soon" }, { startTime: "soon" }))
  })

  it("compares lists in order, and invalid quantities literally", () => {
    assert.isFalse(Equality.equal({ args: ["a", "b"] }, { args: ["b", "a"] }))
    assert.isFalse(Equality.equal({ args: [""] }, { args: [null] }))
    assert.isFalse(Equality.equal({ limits: { cpu: "one" } }, { limits: { cpu: "two" } }))
    assert.isTrue(Equality.equal({ limits: { cpu: "one" } }, { limits: { cpu: "one" } }))
  })
})

describe("Hash", () => {
  checkProperty(
    "equal templates have equal hashes",
    spellings,
    ({ a, x, y }) => Hash.template(spelling(a, x)) === Hash.template(spelling(a, y))
  )

  checkProperty(
    "different templates have different hashes, but for rare collisions",
    neighbours,
    ({ a, b, x, y }) => (Hash.template(spelling(a, x)) === Hash.template(spelling(b, y))) === sameFacts(a, b)
  )

  checkProperty("a hash is a short label value of safe characters", spellings, ({ a, x }) =>
    /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/.test(Hash.template(spelling(a, x), x))
  )

  checkProperty(
    "another collision count gives another hash",
    spellings,
    ({ a, x, y }) =>
      new Set([undefined, 0, 1, 256, x + 2 ** 16].map((count) => Hash.template(spelling(a, y), count))).size === 5
  )
})

describe("hash", () => {
  it("is 32-bit FNV-1a, so that it is the same in every version of this program", () => {
    assert.strictEqual(Hash.template({}), "5859f96865")
    assert.strictEqual(Hash.template({ metadata: { labels: { app: "web" } } }, 3), "5d76776b57")
  })
})

describe("a field that is a pointer at one path only", () => {
  const spec = (more: object) => ({ spec: { containers: [{ name: "a", image: "a:1" }], ...more } })
  const csi = (more: object) => spec({ volumes: [{ name: "v", csi: { driver: "d", ...more } }] })
  const nfs = (more: object) => spec({ volumes: [{ name: "v", nfs: { server: "s", path: "/", ...more } }] })
  const option = (more: object) => spec({ dnsConfig: { options: [{ name: "debug", ...more }] } })
  const resources = (more: object) => spec({ containers: [{ name: "a", image: "a:1", ...more }] })
  const cases: ReadonlyArray<readonly [title: string, a: object, b: object, isEqual: boolean]> = [
    ["readOnly: false of a csi volume", csi({}), csi({ readOnly: false }), false],
    ["readOnly: false of two csi volumes", csi({ readOnly: false }), csi({ readOnly: false }), true],
    ["readOnly: null of a csi volume", csi({}), csi({ readOnly: null }), true],
    ["readOnly: false of an nfs volume", nfs({}), nfs({ readOnly: false }), true],
    ["an empty value of a DNS option", option({}), option({ value: "" }), false],
    ["empty resources of a pod", spec({}), spec({ resources: {} }), false],
    ["empty resources of a pod, with empty limits", spec({ resources: {} }), spec({ resources: { limits: {} } }), true],
    ["empty resources of a container", resources({}), resources({ resources: {} }), true]
  ]
  for (const [title, a, b, isEqual] of cases)
    it(`${isEqual ? "equals" : "differs from"} an absent field: ${title}`, () =>
      assert.deepStrictEqual(
        [Equality.equal(a, b), Equality.equal(b, a), Equality.canonical(a) === Equality.canonical(b)],
        [isEqual, isEqual, isEqual]
      ))
})
