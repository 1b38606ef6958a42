/** Texts and regular expressions. The expected values are those of version 2 of cel-go's strings extension and of Go's regexp. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "./evaluated.ts"

describe("a text", () => {
  it("has the functions of version 2 of the extension, by code points", () => {
    assert.deepStrictEqual(
      wrong([
        ["'a👑b'.charAt(1)", '"👑"'],
        ["'ab'.charAt(2)", '""'],
        ["'ab'.charAt(3)", "failed: index out of range: 3"],
        ["'a👑b'.indexOf('b')", "2"],
        ["'abab'.indexOf('b', 2)", "3"],
        ["'abab'.indexOf('')", "0"],
        ["'abab'.lastIndexOf('a')", "2"],
        ["'abab'.lastIndexOf('a', 1)", "0"],
        ["'ab'.indexOf('x')", "-1"],
        ["'aÄb'.upperAscii()", '"AÄB"'],
        ["'AÄB'.lowerAscii()", '"aÄb"'],
        ["'abab'.replace('b', 'x')", '"axax"'],
        ["'abab'.replace('b', 'x', 1)", '"axab"'],
        ["'abab'.replace('b', 'x', 0)", '"abab"'],
        ["'abab'.replace('b', 'x', -1)", '"axax"'],
        ["'abc'.replace('', '_')", '"_a_b_c_"'],
        ["'a,b,c'.split(',')", '["a", "b", "c"]'],
        ["'a,b,c'.split(',', 2)", '["a", "b,c"]'],
        ["'a,b,c'.split(',', 0)", "[]"],
        ["'a,b,c'.split(',', -1)", '["a", "b", "c"]'],
        ["'a👑'.split('')", '["a", "👑"]'],
        ["'a👑b'.substring(1)", '"👑b"'],
        ["'a👑b'.substring(1, 2)", '"👑"'],
        ["'ab'.substring(3)", "failed: index out of range: 3"],
        ["'ab'.substring(2, 1)", "failed: invalid substring range. start: 2, end: 1"],
        ["' \\t\\u2000a b\\n'.trim()", '"a b"'],
        ["['a', 'b'].join()", '"ab"'],
        ["['a', 'b'].join('-')", '"a-b"'],
        ["strings.quote('a\"b\\n')", '"\\"a\\\\\\"b\\\\n\\""'],
        ["'ab'.reverse()", "refused: found no matching overload for 'reverse' applied to 'string.()'"]
      ]),
      []
    )
  })

  it("is formatted", () => {
    assert.deepStrictEqual(
      wrong([
        ["'%s %d %s'.format(['a', 1, [1, 2]])", '"a 1 [1, 2]"'],
        ["'%f %.2f'.format([1.5, 2.345])", '"1.500000 2.35"'],
        ["'%x %X %o %b'.format([255, 255, 8, 5])", '"ff FF 10 101"'],
        ["'%e'.format([3.14])", '"3.140000×10⁰⁰"'],
        ["'%%'.format([])", '"%"'],
        ["'%s'.format([duration('90s')])", '"90s"'],
        ["'%s'.format([timestamp('2000-01-01T00:00:00.500Z')])", '"2000-01-01T00:00:00.5Z"']
      ]),
      []
    )
  })

  it("is matched by regular expressions, of which malformed ones are refused where they are written", () => {
    assert.deepStrictEqual(
      wrong([
        ["'abc 123'.find('[0-9]+')", '"123"'],
        ["'abc 123'.find('xyz')", '""'],
        ["'abc 123'.find('[0-9]*')", '""'],
        ["'123 abc 456'.findAll('[0-9]+')", '["123", "456"]'],
        ["'123 abc 456'.findAll('[0-9]+', 1)", '["123"]'],
        ["'123 abc 456'.findAll('[0-9]+', 0)", "[]"],
        ["'123 abc 456'.findAll('[0-9]+', -1)", '["123", "456"]'],
        ["'123'.findAll('x')", "[]"],
        ["'ab'.findAll('b*')", '["", "b"]'],
        ["'abc'.matches('b')", "true"],
        ["'abc'.matches('^b$')", "false"],
        ["'a\\nb'.matches('a.b')", "false"],
        ["'a\\nb'.matches('(?s)a.b')", "true"],
        ["'ÄB'.matches('(?i)äb')", "true"]
      ]),
      []
    )
  })
})
