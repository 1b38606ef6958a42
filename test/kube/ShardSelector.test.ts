/** Shard selectors: what parses, what is refused, and that a selector that is printed means the same. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Fnv64 from "../../src/kube/fnv64.ts"
import * as ShardSelector from "../../src/kube/ShardSelector.ts"

const uid = "object.metadata.uid"
const [zero, half, all] = ["'0x0000000000000000'", "'0x8000000000000000'", "'0x10000000000000000'"]
const lower = `shardRange(${uid}, ${zero}, ${half})`
const upper = `shardRange(${uid}, ${half}, ${all})`

const printed = (text: string): string =>
  ShardSelector.format(Result.getOrThrowWith(ShardSelector.parse(text), (fault) => new Error(fault)))

/** Each with what is wrong about it. */
const malformed: ReadonlyArray<readonly [text: string, fault: string]> = [
  [" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"],
  [`object.metadata.uid`, "unexpected expression kind select; expected shardRange() call or || operator"],
  [`has(${uid})`, "unexpected expression kind select; expected shardRange() call or || operator"],
  [`${lower} && ${upper}`, 'unsupported function "_&&_"; only shardRange() and || are allowed'],
  [`!${lower}`, 'unsupported function "!_"; only shardRange() and || are allowed'],
  [`range(${uid}, ${zero}, ${half})`, 'unsupported function "range"; only shardRange() and || are allowed'],
  [`${lower} || ${uid} > '0x0'`, 'unsupported function "_>_"; only shardRange() and || are allowed'],
  [`shardRange()`, "shardRange() requires exactly 3 arguments, got 0"],
  [`shardRange(${uid}, ${zero})`, "shardRange() requires exactly 3 arguments, got 2"],
  [`shardRange(${uid}, ${zero}, ${half}, ${all})`, "shardRange() requires exactly 3 arguments, got 4"],
  [
    `shardRange('${uid}', ${zero}, ${half})`,
    "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind literal"
  ],
  [
    `shardRange(object.metadata.name, ${zero}, ${half})`,
    'unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace'
  ],
  [
    `shardRange(metadata.uid, ${zero}, ${half})`,
    'unsupported field path "metadata.uid"; supported: object.metadata.uid, object.metadata.namespace'
  ],
  [`shardRange(${uid}, hex(0), ${half})`, "hexStart must be a string literal (e.g. '0xff'), got expression kind call"],
  [`shardRange(${uid}, ${zero}, 8)`, "hexEnd must be a string literal, got bigint"],
  [`shardRange(${uid}, '0000000000000000', ${half})`, `hexStart must have '0x' prefix, got "0000000000000000"`],
  [`shardRange(${uid}, ${zero}, '0X8000000000000000')`, `hexEnd must have '0x' prefix, got "0X8000000000000000"`],
  [`shardRange(${uid}, '0x', ${half})`, "hexStart: hex value is required after '0x'"],
  [
    `shardRange(${uid}, '0x000000000000000000', ${half})`,
    'hexStart: hex value too long (18 chars, max 17): "000000000000000000"'
  ],
  [`shardRange(${uid}, ${zero}, '0x8g')`, 'hexEnd: invalid hex character "g" in "0x8g"'],
  [`shardRange(${uid}, ${zero}, '0x800000000000000A')`, 'hexEnd: invalid hex character "A" in "0x800000000000000A"'],
  [
    `shardRange(${uid}, ${zero}, '0x10000000000000001')`,
    `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`
  ],
  [
    `shardRange(${uid}, '0x0', ${half})`,
    'hexStart must be a 0x-prefixed 16-digit hex value, got "0x0" (did you mean "0x0000000000000000"?)'
  ],
  [
    `shardRange(${uid}, ${half}, ${half})`,
    "shard range start 0x8000000000000000 must be less than end 0x8000000000000000"
  ],
  [
    `shardRange(${uid}, ${all}, ${half})`,
    "shard range start 0x10000000000000000 must be less than end 0x8000000000000000"
  ],
  [
    `${lower} || shardRange(object.metadata.namespace, ${half}, ${all})`,
    'all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"'
  ]
]

const Half = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))
const Hashes = Arbitrary.schema(Schema.Array(Schema.Struct({ high: Half, low: Half })).check(Schema.isMaxLength(6)))

describe("a shard selector", () => {
  it("is printed with one space between its parts, in the order of its ranges", () => {
    assert.strictEqual(printed(lower), lower)
    assert.strictEqual(
      printed(`\n(${upper.replaceAll(" ", "")})||shardRange( ${uid} ,"0x0000000000000000", ${half}) || ${lower}`),
      `${upper} || ${lower} || ${lower}`
    )
    const byNamespace = lower.replace("uid", "namespace")
    assert.strictEqual(printed(byNamespace), byNamespace)
  })

  it("names the first part that is wrong", () => {
    for (const [text, fault] of malformed) assert.deepStrictEqual(ShardSelector.parse(text), Result.fail(fault), text)
  })

  it("is refused where it is not an expression, or too long for one", () => {
    for (const text of ["(", lower.slice(0, -1), `${lower} ||`, `${lower} ${upper}`, `// ${"x".repeat(100_000)}`]) {
      const parsed = ShardSelector.parse(text)
      assert.match(Result.isFailure(parsed) ? parsed.failure : "", /^CEL parse error: ./, text)
    }
  })

  it.prop("that is printed and parsed again has the same ranges", { hashes: Hashes }, ({ hashes }) => {
    const ordered = hashes.toSorted((a, b) => (Fnv64.isBelow(a, b) ? -1 : 1))
    const ranges = ordered.flatMap((start, index) => {
      const end = ordered[index + 1] ?? { high: 2 ** 32, low: 0 }
      return Fnv64.isBelow(start, end) ? [{ start, end }] : []
    })
    if (ranges.length === 0) return true
    const selector = { field: "namespace", ranges } as const
    assert.deepStrictEqual(ShardSelector.parse(ShardSelector.format(selector)), Result.succeed(selector))
    return true
  })
})
