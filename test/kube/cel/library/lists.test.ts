/** Lists, sets, optional values and comprehensions. The expected values are those of the server's library and of cel-go's extensions. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "./evaluated.ts"

describe("a list", () => {
  it("is searched, added up and ordered", () => {
    assert.deepStrictEqual(
      wrong([
        ["[1, 3, 3].isSorted()", "true"],
        ["[3, 1].isSorted()", "false"],
        ["[1].isSorted() && ['a', 'b'].isSorted() && [false, true].isSorted()", "true"],
        ["[b'b', b'a'].isSorted()", "false"],
        ["[duration('1s'), duration('1m')].isSorted()", "true"],
        ["[timestamp('2024-01-02T00:00:00Z'), timestamp('2024-01-01T00:00:00Z')].isSorted()", "false"],
        ["[1, 2, 3].sum()", "6"],
        ["[1u, 2u].sum()", "3u"],
        ["[0.5, 1.0].sum()", "1.5d"],
        ["[duration('1s'), duration('1m')].sum() == duration('61s')", "true"],
        ["[1].filter(x, x > 1).sum()", "0"],
        ["[9223372036854775807, 1].sum()", "failed: integer overflow"],
        ["['a'].sum()", "refused: found no matching overload for 'sum' applied to 'list(string).()'"],
        ["[1, 3, 2].max()", "3"],
        ["['b', 'a'].min()", '"a"'],
        ["[1].filter(x, x > 1).max()", "failed: max called on empty list"],
        ["[1].filter(x, x > 1).min()", "failed: min called on empty list"],
        ["[1, 2, 2, 3].indexOf(2)", "1"],
        ["[1, 2, 2, 3].lastIndexOf(2)", "2"],
        ["['a'].indexOf('b')", "-1"],
        ["[[1], [2]].indexOf([2])", "1"]
      ]),
      []
    )
  })

  it("has the functions of version 3 of the extension", () => {
    assert.deepStrictEqual(
      wrong([
        ["[1, 2, 3, 4].slice(1, 3)", "[2, 3]"],
        ["[1, 2].slice(1, 3)", "failed: cannot slice(1, 3), list is length 2"],
        ["[1, 2].slice(-1, 1)", "failed: cannot slice(-1, 1), negative indexes not supported"],
        ["[[1], [2, 3]].flatten()", "[1, 2, 3]"],
        ["[dyn(1), dyn([[2]])].flatten(1)", "[1, [2]]"],
        ["[dyn(1), dyn([[2]])].flatten(2)", "[1, 2]"],
        ["[[1]].flatten(-1)", "failed: level must be non-negative"],
        ["[3, 1, 2].sort()", "[1, 2, 3]"],
        ["['bb', 'a'].sortBy(s, s.size())", '["a", "bb"]'],
        ["[1, 2, 1].distinct()", "[1, 2]"],
        ["[1, 2].reverse()", "[2, 1]"],
        ["lists.range(3)", "[0, 1, 2]"],
        ["[1, 2].first()", "some 1"],
        ["[1].filter(x, x > 1).last()", "none"]
      ]),
      []
    )
  })

  it("is a set for the functions of sets", () => {
    assert.deepStrictEqual(
      wrong([
        ["sets.contains([1, 2, 2], [2, 1])", "true"],
        ["sets.contains([1], [])", "true"],
        ["sets.contains([1], [1, 2])", "false"],
        [
          "sets.contains([1], [1u])",
          "refused: found no matching overload for 'sets.contains' applied to '(list(int), list(uint))'"
        ],
        ["sets.equivalent([1, 2], [2, 1, 1])", "true"],
        ["sets.equivalent([1], [1, 2])", "false"],
        ["sets.intersects([1, 2], [2, 3])", "true"],
        ["sets.intersects([], [])", "false"]
      ]),
      []
    )
  })
})

describe("an optional value", () => {
  it("is there or not", () => {
    assert.deepStrictEqual(
      wrong([
        ["optional.of(1)", "some 1"],
        ["optional.none().hasValue()", "false"],
        ["optional.ofNonZeroValue('')", "none"],
        ["optional.ofNonZeroValue(0)", "none"],
        ["optional.ofNonZeroValue([0])", "some [0]"],
        ["optional.of(1).value()", "1"],
        ["optional.none().value()", "failed: optional.none() dereference"],
        ["optional.none().orValue(2)", "2"],
        ["optional.none().or(optional.of(3))", "some 3"],
        ["optional.of(1).optMap(x, x + 1)", "some 2"],
        ["optional.of([1]).optFlatMap(x, x[?1])", "none"],
        ["{'a': 1}[?'a']", "some 1"],
        ["{'a': {'b': 2}}.?a.b", "some 2"],
        ["{'a': {'b': 2}}.?c.b", "none"],
        ["[1][?2].orValue(0)", "0"],
        ["[?optional.none(), ?optional.of(1)]", "[1]"],
        ["{?'a': optional.none(), 'b': 1}", '{"b": 1}'],
        ["optional.unwrap([optional.of(1), optional.none()])", "[1]"],
        ["[optional.of(1), optional.none()].unwrapOpt()", "[1]"]
      ]),
      []
    )
  })
})

describe("a comprehension with two variables", () => {
  it("has the index and the element, or the key and the value", () => {
    assert.deepStrictEqual(
      wrong([
        ["[3, 4].all(i, v, v == i + 3)", "true"],
        ["{'a': 1}.all(k, v, k == 'a' && v == 1)", "true"],
        ["[3, 4].exists(i, v, i == v)", "false"],
        ["{'a': 1, 'b': 1}.existsOne(k, v, v == 1)", "false"],
        ["['x'].exists_one(i, v, i == 0)", "true"],
        ["['x', 'y'].transformList(i, v, string(i) + v)", '["0x", "1y"]'],
        ["['x', 'y'].transformList(i, v, i > 0, v)", '["y"]'],
        ["{'a': 1}.transformMap(k, v, v + 1)", '{"a": 2}'],
        ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v)", '{"b": 2}'],
        ["{'a': 'x'}.transformMapEntry(k, v, {v: k})", '{"x": "a"}'],
        ["['a', 'a'].transformMapEntry(i, v, {v: i})", "failed: insert failed: key a already exists"],
        ["[1].all(i, i, true)", "refused: duplicate variable name: i"]
      ]),
      []
    )
  })
})
