/** Which functions there are: those of the API server of Kubernetes 1.36, not more. Source: apiserver pkg/cel/environment/base.go. */
import { assert, describe, it } from "@effect/vitest"
import { functions } from "../../../../src/kube/cel/library/library.ts"
import { evaluated } from "./evaluated.ts"

const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

const members = `add allowed asApproximateFloat asInteger charAt check compareTo contains containsCIDR containsIP distinct endsWith error errored
  family fieldSelector find findAll first flatten format getDate getDayOfMonth getDayOfWeek getDayOfYear getEscapedPath getFullYear getHost
  getHostname getHours getMilliseconds getMinutes getMonth getPort getQuery getScheme getSeconds group hasValue indexOf ip isGlobalUnicast
  isGreaterThan isInteger isLessThan isLinkLocalMulticast isLinkLocalUnicast isLoopback isSorted isUnspecified join labelSelector last
  lastIndexOf lowerAscii major masked matches max min minor name namespace or orValue patch path prefixLength reason replace resource reverse
  serviceAccount size slice sort split startsWith sub subresource substring sum trim unwrapOpt upperAscii validate value`

const formats = `byte date datetime dns1035Label dns1035LabelPrefix dns1123Label dns1123LabelPrefix dns1123Subdomain dns1123SubdomainPrefix
  labelValue qualifiedName uri uuid named`

const globals = `bool bytes cidr double duration dyn int ip ip.isCanonical isCIDR isIP isQuantity isSemver isURL lists.range matches
  optional.none optional.of optional.ofNonZeroValue optional.unwrap quantity semver sets.contains sets.equivalent sets.intersects sign size
  string strings.quote timestamp type uint url`

const named = (isMember: boolean): ReadonlyArray<string> =>
  [...functions]
    .filter(([name, overloads]) => /^[a-z][\w.]*$/i.test(name) && overloads.some((one) => one.isMember === isMember))
    .map(([name]) => name)
    .sort()

describe("the functions of an expression", () => {
  it("are those that the API server enables", () => {
    assert.deepStrictEqual(named(true), [...words(members)].sort())
    assert.deepStrictEqual(named(false), [...words(globals), ...words(formats).map((name) => `format.${name}`)].sort())
  })

  it("are not those that it has for other purposes or not at all", () => {
    const others = [
      "jsonpatch.escapeKey('a')",
      "math.greatest(1, 2)",
      "base64.encode(b'a')",
      "regex.replace('a', 'b', 'c')",
      "cel.bind(a, 1, a)",
      "'ab'.reverse()"
    ]
    for (const text of others) assert.match(evaluated(text), /^refused: /, text)
  })
})
