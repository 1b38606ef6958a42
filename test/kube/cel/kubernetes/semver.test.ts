/** Semantic versions. The expected values are those of blang/semver and of the server's library. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "../library/evaluated.ts"

describe("a semantic version", () => {
  it("is read strictly, unless it is asked for loosely", () => {
    assert.deepStrictEqual(
      wrong([
        ["isSemver('1.2.3-beta.1+build.1')", "true"],
        ["isSemver('1.2.3--')", "true"],
        ["isSemver('1.2.3-')", "false"],
        ["isSemver('1.2.3+')", "false"],
        ["isSemver('1.2.3-01')", "false"],
        ["isSemver('1.2.3-0a')", "true"],
        ["isSemver('v1.0.0')", "false"],
        ["isSemver(' 1.0.0')", "false"],
        ["isSemver('1.0.0 ')", "false"],
        ["isSemver('01.01.01')", "false"],
        ["isSemver('1')", "false"],
        ["isSemver('')", "false"],
        ["isSemver('18446744073709551615.0.0')", "true"],
        ["isSemver('18446744073709551616.0.0')", "false"],
        ["isSemver('', true)", "false"],
        ["isSemver('v1.0.0', true)", "true"],
        ["isSemver('vv1.0.0', true)", "false"],
        ["isSemver('01.01.01', true)", "true"],
        ["isSemver('1', true)", "true"],
        ["isSemver('1.1', true)", "true"],
        ["isSemver('1.1-alpha', true)", "false"],
        ["isSemver('1. 0.0', true)", "false"],
        ["isSemver([1])", "refused: found no matching overload for 'isSemver' applied to '(list(int))'"]
      ]),
      []
    )
  })

  it("that is malformed fails with the part that is wrong", () => {
    assert.deepStrictEqual(
      wrong([
        ["semver('')", "failed: Version string empty"],
        ["semver('v1.0')", "failed: No Major.Minor.Patch elements found"],
        ["semver('a.0.0')", 'failed: Invalid character(s) found in major number "a"'],
        ["semver('1.02.0')", 'failed: Minor number must not contain leading zeroes "02"'],
        ["semver('1.2.x')", 'failed: Invalid character(s) found in patch number "x"'],
        ["semver('1.2.3-a_b')", 'failed: Invalid character(s) found in prerelease "a_b"'],
        ["semver('1.2.3-00')", 'failed: Numeric PreRelease version must not contain leading zeroes "00"'],
        ["semver('1.2.3-a..b')", "failed: Prerelease is empty"],
        ["semver('1.2.3+a.')", "failed: Build meta data is empty"],
        ["semver('1.2-a', true)", "failed: short version cannot contain PreRelease/Build meta data"]
      ]),
      []
    )
  })

  it("is compared by precedence", () => {
    assert.deepStrictEqual(
      wrong([
        ["semver('v01.01', true) == semver('1.1.0')", "true"],
        ["semver('1.2.3+a') == semver('1.2.3+b')", "true"],
        ["semver('1.2.3-a') == semver('1.2.3')", "false"],
        ["semver('1.0.0').isLessThan(semver('1.2.3'))", "true"],
        ["semver('1.0.0').isLessThan(semver('1.0.0'))", "false"],
        ["semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true"],
        ["semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))", "true"],
        ["semver('1.0.0-2').compareTo(semver('1.0.0-10'))", "-1"],
        ["semver('1.0.0-10').compareTo(semver('1.0.0-a'))", "-1"],
        ["semver('1.0.0-a.1').compareTo(semver('1.0.0-a'))", "1"],
        ["semver('1.2.3').compareTo(semver('1.2.3'))", "0"]
      ]),
      []
    )
  })

  it("has three numbers, of 64 bits", () => {
    assert.deepStrictEqual(
      wrong([
        ["semver('1.2.3').major()", "1"],
        ["semver('1.2.3').minor()", "2"],
        ["semver('1.2.3-a').patch()", "3"],
        ["semver('18446744073709551615.0.0').major()", "-1"]
      ]),
      []
    )
  })
})
