/** Quantities. The expected values are those of apimachinery's api/resource and of the server's library. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "../library/evaluated.ts"

const malformed = "failed: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

describe("a quantity", () => {
  it("is read with the suffixes of resources", () => {
    assert.deepStrictEqual(
      wrong([
        ["quantity('12Mi') == quantity('12582912')", "true"],
        ["quantity('0.2G') == quantity('200M')", "true"],
        ["quantity('1e3') == quantity('1k')", "true"],
        ["quantity('200M') == quantity('0.3G')", "false"],
        ["isQuantity('20Mi')", "true"],
        ["isQuantity('-0.5')", "true"],
        ["isQuantity('20Mo')", "false"],
        ["isQuantity('10Mm')", "false"],
        ["isQuantity('')", "false"],
        ["isQuantity([1])", "refused: found no matching overload for 'isQuantity' applied to '(list(int))'"],
        ["quantity('10Mo')", malformed],
        ["quantity('')", malformed],
        ["quantity('10Mm')", "failed: unable to parse quantity's suffix"],
        [
          "type(quantity('1')) == kubernetes.Quantity",
          "refused: undeclared reference to 'kubernetes' (in container '')"
        ]
      ]),
      []
    )
  })

  it("is compared by amount", () => {
    assert.deepStrictEqual(
      wrong([
        ["quantity('50M').isLessThan(quantity('50Mi'))", "true"],
        ["quantity('100M').isLessThan(quantity('50M'))", "false"],
        ["quantity('50Mi').isGreaterThan(quantity('50M'))", "true"],
        ["quantity('50M').isGreaterThan(quantity('50M'))", "false"],
        ["quantity('200M').compareTo(quantity('0.2G'))", "0"],
        ["quantity('50M').compareTo(quantity('50Mi'))", "-1"],
        ["quantity('50Mi').compareTo(quantity('50M'))", "1"],
        ["sign(quantity('-1m'))", "-1"],
        ["sign(quantity('0'))", "0"],
        ["quantity('1').sign()", "refused: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"]
      ]),
      []
    )
  })

  it("is added and subtracted; the result has no equality on the right side", () => {
    assert.deepStrictEqual(
      wrong([
        ["quantity('50k').add(quantity('20')) == quantity('50.02k')", "true"],
        ["quantity('50k').sub(20) == quantity('49980')", "true"],
        ["quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger()", "20"],
        ["quantity('1Gi').sub(quantity('1Mi')).asInteger()", "1072693248"],
        ["quantity('50.02k') == quantity('50k').add(20)", "failed: no such overload"],
        ["quantity('50.02k') != quantity('50k').add(20)", "true"]
      ]),
      []
    )
  })

  it("is an integer, if it is written as one that fits into 64 bits", () => {
    assert.deepStrictEqual(
      wrong([
        ["quantity('50k').asInteger()", "50000"],
        ["quantity('1Gi').asInteger()", "1073741824"],
        ["quantity('50').isInteger()", "true"],
        ["quantity('50.5').isInteger()", "false"],
        ["quantity('1000m').isInteger()", "false"],
        ["quantity('1.5k').isInteger()", "true"],
        ["quantity('1.5Gi').isInteger()", "false"],
        ["quantity('9999999999999999999999999999999999999G').isInteger()", "false"],
        ["quantity('1000m').asInteger()", "failed: cannot convert value to integer"],
        ["quantity('1.5').add(quantity('500m')).isInteger()", "false"],
        ["quantity('50.703k').asApproximateFloat()", "50703d"]
      ]),
      []
    )
  })
})
