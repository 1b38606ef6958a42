/** URLs. The expected values are those of Go's net/url, which the server uses. */
import { assert, describe, it } from "@effect/vitest"
import { wrong } from "../library/evaluated.ts"

const unread = (text: string, problem: string) =>
  `failed: URL parse error during conversion from string: parse "${text}": ${problem}`

describe("a URL", () => {
  it("is an absolute one, or an absolute path", () => {
    assert.deepStrictEqual(
      wrong([
        ["isURL('https://example.com/a?b=c')", "true"],
        ["isURL('/absolute/path')", "true"],
        ["isURL('relative/path')", "false"],
        ["isURL('../path')", "false"],
        ["isURL('')", "false"],
        ["isURL('*')", "true"],
        ["isURL('mailto:a@b')", "true"],
        ["isURL('https://a:b/')", "false"],
        ["isURL('https://a:80:81/')", "false"],
        ["isURL('https://[::1')", "false"],
        ["isURL('https://a b/')", "false"],
        ["isURL('https://a<b>/')", "true"],
        ["isURL('https://a/b c')", "true"],
        ["isURL('https://a/%zz')", "false"],
        ["isURL('https://a%41/')", "false"],
        ["isURL('https://us er@a/')", "false"],
        ["isURL('https://a#b')", "false"],
        ["isURL('https://a/#b')", "true"],
        ["isURL('//a:b/c')", "true"],
        ["isURL('/a\\nb')", "false"]
      ]),
      []
    )
  })

  it("has the parts that Go reads", () => {
    assert.deepStrictEqual(
      wrong([
        ["url('HTTPS://example.com/').getScheme()", '"https"'],
        ["url('/path').getScheme()", '""'],
        ["url('https://user:secret@example.com:80/').getHost()", '"example.com:80"'],
        ["url('https://[::1]:80/').getHost()", '"[::1]:80"'],
        ["url('/path').getHost()", '""'],
        ["url('//example.com/path').getHost()", '"example.com"'],
        ["url('https://example.com:80/').getHostname()", '"example.com"'],
        ["url('https://[::1]:80/').getHostname()", '"::1"'],
        ["url('https://[::1]:80/').getPort()", '"80"'],
        ["url('https://example.com/').getPort()", '""'],
        ["url('https://example.com').getEscapedPath()", '""'],
        ["url('https://example.com/a b/').getEscapedPath()", '"/a%20b/"'],
        ["url('https://example.com/a%2Fb#c').getEscapedPath()", '"/a%2Fb"'],
        ["url('https://example.com/ä').getEscapedPath()", '"/%C3%A4"'],
        ["url('https://example.com/p?a=1&b=2&b=3').getQuery()", '{"a": ["1"], "b": ["2", "3"]}'],
        ["url('https://example.com/p?a b=c+d').getQuery()", '{"a b": ["c d"]}'],
        ["url('https://example.com/p?a;b=c&d').getQuery()", '{"d": [""]}'],
        ["url('https://example.com/p?').getQuery()", "{}"],
        ["url('https://example.com/p?a=b#c').getQuery()", '{"a": ["b"]}']
      ]),
      []
    )
  })

  it("equals another one that is written in the same way by Go", () => {
    assert.deepStrictEqual(
      wrong([
        ["url('HTTPS://a/') == url('https://a/')", "true"],
        ["url('https://a/b c') == url('https://a/b%20c')", "true"],
        ["url('https://a/') == url('https://A/')", "false"],
        ["url('https://a/#x') == url('https://a/')", "false"],
        ["url('https://a/') == dyn('https://a/')", "failed: no such overload"],
        ["url('https://a/') != dyn('https://a/')", "true"],
        ["dyn('https://a/') == url('https://a/')", "false"],
        ["type(url('/a')) == kubernetes.URL", "refused: undeclared reference to 'kubernetes' (in container '')"]
      ]),
      []
    )
  })

  it("that is malformed fails with what Go says of it", () => {
    assert.deepStrictEqual(
      wrong([
        ["url('')", unread("", "empty url")],
        ["url('relative')", unread("relative", "invalid URI for request")],
        ["url('1a://b')", unread("1a://b", "invalid URI for request")],
        ["url(':a')", unread(":a", "missing protocol scheme")],
        ["url('https://a:b/')", unread("https://a:b/", 'invalid port ":b" after host')],
        ["url('https://[::1')", unread("https://[::1", "missing ']' in host")],
        ["url('https://a/%zz')", unread("https://a/%zz", 'invalid URL escape "%zz"')],
        ["url('https://a b/')", unread("https://a b/", 'invalid character " " in host name')]
      ]),
      []
    )
  })
})
