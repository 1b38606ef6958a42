/**
 * Costs of expressions, which are those of the API server: what an evaluation spends, and what it may spend at worst with values as large as
 * their schemas allow. A limit that is reached here has to be reached there. The figures are those of apiextensions-apiserver's tests of the
 * stability of costs, and of apiserver's tests of the costs of its libraries (those about constants are lower by what is computed beforehand).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Cel from "../../../../src/kube/cel/Cel.ts"
import type { StructuralSchema } from "../../../../src/kube/structural/StructuralSchema.ts"

const text: StructuralSchema = { type: "string" }
const integer: StructuralSchema = { type: "integer" }
const pair: StructuralSchema = { type: "object", properties: { k: text, v: text } }

const schema: StructuralSchema = {
  type: "object",
  properties: {
    int: integer,
    other: integer,
    float: { type: "number" },
    isOn: { type: "boolean" },
    text,
    octets: { type: "string", format: "byte" },
    duration: { type: "string", format: "duration" },
    time: { type: "string", format: "date-time" },
    list: { type: "array", items: integer },
    otherList: { type: "array", items: integer },
    set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    otherSet: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    large: { type: "array", items: integer, "x-kubernetes-list-type": "set" },
    pairs: {
      type: "array",
      items: { type: "array", items: pair, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }
    },
    map: { type: "object", additionalProperties: text },
    object: { type: "object", properties: { field: text, absent: text } },
    embedded: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
    amount: text
  }
}

const self = {
  int: 5,
  other: 5,
  float: 10,
  isOn: true,
  text: "Rook takes 👑",
  octets: "QUI=",
  duration: "1h2m3s4ms",
  time: "2011-08-18T19:03:37.010000000+01:00",
  list: [1, 2, 3],
  otherList: [1, 2, 3],
  set: ["a", "b", "c"],
  otherSet: ["a", "c", "b"],
  large: Array.from({ length: 1000 }, (_, index) => index + 1),
  pairs: [
    [
      { k: "a", v: "1" },
      { k: "b", v: "2" }
    ],
    [
      { k: "b", v: "2" },
      { k: "a", v: "1" }
    ],
    [
      { k: "b", v: "3" },
      { k: "a", v: "1" }
    ],
    [{ k: "c", v: "4" }]
  ],
  map: { k1: "a", k2: "b" },
  object: { field: "a" },
  embedded: { apiVersion: "v1", kind: "Pod", metadata: { name: "foo", generateName: "pickItForMe" } },
  amount: "200M"
}

const authorizer = new Cel.Authorizer(() => ({ allowed: true, reason: "" }))
const variables = { self: { schema }, authorizer: Cel.authorizerType }

const costsOf = (expression: string): readonly [number, number] => {
  const program = Result.getOrThrow(Cel.compile(expression, variables))
  const budget = { remaining: Cel.requestBudget }
  const result = Cel.evaluate(program, { self, authorizer }, budget)
  assert.isTrue(Result.isSuccess(result), expression)
  return [Cel.requestBudget - budget.remaining, Cel.worstCost(program)]
}

/** An expression, its cost, and its worst cost where the server's tests give one. */
type Row = readonly [string, number, number?]

/** The rows that have other costs, with what they are. */
const wrong = (rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  rows.flatMap(([expression, cost, worst]) => {
    const [actual, most] = costsOf(expression)
    const isRight = actual === cost && (worst === undefined || most === worst)
    return isRight ? [] : [`${expression} costs ${actual}, at worst ${most}, not ${cost} and ${worst}`]
  })

describe("the cost of an expression", () => {
  it("about numbers, truth and times counts variables, fields and calls", () => {
    assert.deepStrictEqual(
      wrong([
        ["self.int == self.other", 5, 4],
        ["type(self.int) == int", 4, 4],
        ["self.int + 1 == 2147483647 + 1", 5, 5],
        ["double(self.int) < self.float", 6, 6],
        ["double(5) < 10.0", 1, 2],
        ["double(self.int) < 10.0", 4, 4],
        ["self.isOn == true && true == self.isOn && self.isOn == self.isOn", 11, 8],
        ["self.duration == duration('1h2m') + duration('3s4ms')", 4, 6],
        ["self.duration.getHours() == 1", 4, 4],
        ["self.time.getDate('01:00') == 18", 4, 4],
        ["type(self.time) == google.protobuf.Timestamp", 4, 4]
      ]),
      []
    )
  })

  it("about texts counts a tenth of their length", () => {
    assert.deepStrictEqual(
      wrong([
        ["self.text == 'Rook takes 👑' && 'Rook takes 👑' == self.text && self.text == self.text", 14, 314585],
        ["self.text.startsWith('Rook')", 4, 3],
        ["self.text.matches('^[^0-9]*$')", 8, 943721],
        ["!self.text.matches('^[0-9]*$')", 7, 629149],
        ["size(self.text) == 12", 4, 4],
        ["self.text.charAt(3) == 'k'", 4, 4],
        ["self.text.indexOf('o') == 1", 4, 314576],
        ["self.text.replace(' ', 'x') == 'Rookxtakesx👑'", 7, 629150],
        ["self.text.split(' ') == ['Rook', 'takes', '👑']", 6, 629159],
        ["self.text.substring(5) == 'takes 👑'", 5, 314576],
        ["self.text.substring(4, 10).trim() == 'takes'", 6, 629149],
        ["self.text.lowerAscii() == self.text.lowerAscii()", 10, 943723],
        ["'%e'.format([3.14]) == '3.140000×10⁰⁰'", 3],
        ["'%b %b %b'.format([7, 8, 9]) == '111 1000 1001'", 3],
        ["self.octets == b'AB'", 3, 3]
      ]),
      []
    )
  })

  it("about lists, sets and maps counts their elements", () => {
    assert.deepStrictEqual(
      wrong([
        ["1 in self.list", 5, 1572865],
        ["self.otherList[0] in self.list", 8, 1572868],
        ["self.list + self.otherList == [1, 2, 3, 1, 2, 3]", 6, 16],
        ["self.list + [4, 5] == [1, 2, 3, 4, 5]", 4, 24],
        ["has(self.list) && has(self.otherList)", 2, 2],
        ["self.set == self.otherSet", 5, 104862],
        ["'a' in self.set", 5, 1048577],
        ["self.set + ['c', 'd'] == ['a', 'b', 'c', 'd']", 4, 24],
        ["sets.contains(self.set, ['a'])", 6],
        ["sets.equivalent(self.set, ['a', 'b', 'c'])", 21],
        ["sets.contains(self.large, [1])", 1003],
        ["!sets.equivalent(self.large, [1, 2, 3])", 6004],
        ["self.pairs[0] == self.pairs[1]", 7, 104864],
        ["self.pairs[0] + self.pairs[2] == self.pairs[2]", 11, 104868],
        ["self.pairs[0] == [self.pairs[0][0], self.pairs[0][1]]", 22, 22],
        ["self.pairs[2] + [self.pairs[0][0], self.pairs[0][1]] == self.pairs[0]", 26, 104883],
        ["size(self.pairs[0] + [self.pairs[3][0]]) == 3", 20, 20],
        ["self.map == {'k1': 'a', 'k2': 'b'}", 3],
        ["'k1' in self.map", 3],
        ["self.embedded.metadata.name == 'foo'", 5]
      ]),
      []
    )
  })

  it("with optional values counts what is evaluated", () => {
    assert.deepStrictEqual(
      wrong([
        ["optional.of('a') != optional.of('b')", 3],
        ["optional.of('a').hasValue()", 2, 2],
        ["optional.of('a').or(optional.of('a')).hasValue()", 2, 4],
        ["optional.none().or(optional.of('a')).hasValue()", 3, 4],
        ["optional.of('a').optMap(v, v == 'value').hasValue()", 8, 18],
        ["self.object.?field == optional.of('a')", 5],
        ["self.object.?absent == optional.none()", 4],
        ["self.object.?field.orValue('v') == 'a'", 4, 5],
        ["optional.of([1, 2, 3, 4, 5]).optMap(v, v.size()).hasValue()", 8, 38]
      ]),
      []
    )
  })

  it("with the libraries counts what they read", () => {
    assert.deepStrictEqual(
      wrong([
        ["isQuantity(self.amount)", 3, 314575],
        ["quantity('200M') == quantity('0.2G') && quantity('0.2G') == quantity('200M')", 6, 6],
        ["quantity('50k').add(quantity('20')) == quantity('50.02k')", 5, 5],
        ["quantity('50').isInteger()", 2, 2],
        ["semver('1234.56789012345.67890123456789')", 4, 4],
        ["semver('1.0.0').isLessThan(semver('1.1.0'))", 3, 3],
        ["authorizer.path('/healthz').check('get').allowed()", 350_003, 350_003]
      ]),
      []
    )
  })
})
