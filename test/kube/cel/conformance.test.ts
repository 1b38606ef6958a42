/**
 * The cases of the CEL specification, by category. Left out are those about Protocol Buffers, and functions that the API server does not have.
 * The specification evaluates expressions that are not checked, and the API server checks them: what it refuses is counted, and no case that
 * compiles has another result, but for formatting, where the API server uses an older version of the strings extension.
 */
import { assert, describe, it } from "@effect/vitest"
import { getConformanceSuite } from "@bufbuild/cel-spec/testdata/tests.js"
import type { IncrementalTest } from "@bufbuild/cel-spec/testdata/tests.js"
import type { Type as ProtoType } from "@bufbuild/cel-spec/cel/expr/checked_pb.js"
import type { Value as ProtoValue } from "@bufbuild/cel-spec/cel/expr/value_pb.js"
import * as Result from "effect/Result"
import * as Cel from "../../../src/kube/cel/Cel.ts"
import * as Type from "../../../src/kube/cel/Type.ts"
import { Entries, Items, List, Mapping, TypeValue, Uint } from "../../../src/kube/cel/Value.ts"
import type { Value } from "../../../src/kube/cel/Value.ts"

/** Undefined for a value of Protocol Buffers. */
const valueOf = ({ kind }: ProtoValue): Value | undefined => {
  switch (kind.case) {
    case "int64Value":
    case "doubleValue":
    case "boolValue":
    case "stringValue":
    case "bytesValue":
      return kind.value
    case "uint64Value":
      return new Uint(kind.value)
    case "nullValue":
      return null
    case "typeValue":
      return new TypeValue(kind.value)
    case "listValue": {
      const values = kind.value.values.map(valueOf)
      return values.includes(undefined) ? undefined : new Items(values as Array<Value>)
    }
    case "mapValue": {
      const pairs = kind.value.entries.flatMap(({ key, value }) => {
        const pair = [key && valueOf(key), value && valueOf(value)] as const
        return pair.includes(undefined) ? [] : [pair as readonly [Value, Value]]
      })
      const map = Entries.of(pairs)
      return map instanceof Mapping && pairs.length === kind.value.entries.length ? map : undefined
    }
    default:
      return undefined
  }
}

const primitives = [Type.dyn, Type.bool, Type.int, Type.uint, Type.double, Type.string, Type.bytes]

const typeOf = ({ typeKind }: ProtoType): Type.Type => {
  switch (typeKind.case) {
    case "primitive":
      return primitives[typeKind.value] ?? Type.dyn
    case "listType":
      return Type.list(typeKind.value.elemType === undefined ? Type.dyn : typeOf(typeKind.value.elemType))
    case "mapType": {
      const { keyType, valueType } = typeKind.value
      return Type.map(keyType === undefined ? Type.dyn : typeOf(keyType), valueType ? typeOf(valueType) : Type.dyn)
    }
    default:
      return Type.dyn
  }
}

/** A text that is the same for equal values. */
const shown = (value: unknown): string => {
  if (value instanceof List)
    return `[${Array.from({ length: value.size }, (_, index) => shown(value.at(index))).join()}]`
  if (value instanceof Mapping) {
    const entries = value.keys.map((key) => `${shown(key)}:${shown(value.get(key))}`)
    return `{${entries.sort().join()}}`
  }
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof TypeValue) return `type ${value.name}`
  if (typeof value === "number") return `${value === 0 ? 0 : value}d`
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}

type Verdict = "different" | "left out" | "refused" | "the same"

const leftOut = /TestAllTypes|google\.protobuf\.(?:[A-Z]\w*Value|Any|Struct|[A-Z]\w+\{)|cel\.@block|cel\.block/

const judge = ({ original: test }: IncrementalTest): Verdict => {
  const { bindings, container, disableMacros, expr, resultMatcher, typeEnv } = test
  if (container !== "" || disableMacros || leftOut.test(expr)) return "left out"
  const matcher = resultMatcher.case === "typedResult" ? resultMatcher.value.result : resultMatcher.value
  if (resultMatcher.case === "typedResult" && matcher === undefined) return "left out"
  const isFailure = resultMatcher.case === "evalError" || resultMatcher.case === "anyEvalErrors"
  const isTrue = resultMatcher.case === undefined
  const wanted = isTrue ? true : isFailure ? "failure" : valueOf(matcher as ProtoValue)
  if (wanted === undefined) return "left out"
  const variables = new Map<string, Type.Type>()
  const bound = new Map<string, Value>()
  for (const { declKind, name } of typeEnv) {
    if (declKind.case === "ident" && declKind.value.type !== undefined) variables.set(name, typeOf(declKind.value.type))
  }
  for (const [name, { kind }] of Object.entries(bindings)) {
    const value = kind.case === "value" ? valueOf(kind.value) : undefined
    if (value === undefined) return "left out"
    bound.set(name, value)
    if (!variables.has(name)) variables.set(name, Type.dyn)
  }
  const program = Cel.compile(expr, Object.fromEntries(variables))
  if (Result.isFailure(program)) return isFailure ? "the same" : "refused"
  const result = Cel.evaluate(program.success, Object.fromEntries(bound), { remaining: Cel.requestBudget })
  if (Result.isFailure(result)) return isFailure ? "the same" : "different"
  return !isFailure && shown(result.success) === shown(wanted) ? "the same" : "different"
}

/** By category: how many have the same result, are refused, and have another one. */
const counted = (): Readonly<Record<string, ReadonlyArray<number>>> => {
  const rows = new Map<string, Array<number>>()
  for (const suite of getConformanceSuite().suites) {
    for (const { tests } of [suite, ...suite.suites]) {
      for (const test of tests) {
        const at = ["the same", "refused", "different"].indexOf(judge(test))
        const row = rows.get(suite.name) ?? [0, 0, 0]
        if (at >= 0) row[at] = (row[at] ?? 0) + 1
        rows.set(suite.name, row)
      }
    }
  }
  return Object.fromEntries([...rows].filter(([, row]) => row.some((count) => count > 0)))
}

describe("the cases of the specification", () => {
  it("have the results that it says, or are refused by the checker as the API server refuses them", () => {
    assert.deepStrictEqual(counted(), {
      basic: [41, 2, 0],
      bindings_ext: [0, 5, 0],
      block_ext: [0, 2, 0],
      comparisons: [316, 18, 0],
      conversions: [108, 1, 0],
      encoders_ext: [0, 4, 0],
      fields: [45, 15, 0],
      fp_math: [30, 0, 0],
      integer_math: [64, 0, 0],
      lists: [39, 0, 0],
      logic: [25, 5, 0],
      macros: [39, 5, 0],
      macros2: [40, 6, 0],
      math_ext: [17, 182, 0],
      namespace: [1, 0, 0],
      optionals: [54, 5, 0],
      parse: [176, 17, 0],
      plumbing: [4, 1, 0],
      string: [51, 0, 0],
      string_ext: [187, 0, 19],
      timestamps: [75, 0, 0],
      type_deductions: [12, 0, 0]
    })
  })
})
